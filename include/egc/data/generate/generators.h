// Datasets made of nothing but a seed. The same seed and size give the same dataset.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "egc/data/dataset.h"

namespace egc::data {

struct GeneratorOptions {
  uint64_t seed = 0;
  double size = 1;  // in (0, 1]: the fraction of the full number of graphs, or of nodes
};

struct Generator {
  const char* name;
  const char* what;
  Dataset (*make)(const GeneratorOptions& options);
};

const std::vector<Generator>& generators();
bool is_generator(const std::string& name);
// Throws kUsage with the known names.
Dataset generate(const std::string& name, const GeneratorOptions& options);

// pattern, cluster: stochastic block models, as benchmarking-gnns defines them.
Dataset generate_pattern(const GeneratorOptions& options);
Dataset generate_cluster(const GeneratorOptions& options);
// Six properties of small graphs of ten kinds, after the PNA paper (Corso et al. 2020).
Dataset generate_graph_props(const GeneratorOptions& options);
// Molecule-like graphs whose target is computed from atoms, bonds and rings.
Dataset generate_molecules(const GeneratorOptions& options);
// Syntax trees of made-up functions; the words of their names are to be told.
Dataset generate_functions(const GeneratorOptions& options);
// Papers, authors, fields; the topic of a paper shows in its words, its authors and its citations.
Dataset generate_academic(const GeneratorOptions& options);
// The topologies of `egc bench`, with random features and labels that neighbours determine.
Dataset generate_topology(const std::string& name, const GeneratorOptions& options);

// Of a full-size count; at least `least`.
int64_t scaled_count(int64_t full, double size, int64_t least = 1);

}  // namespace egc::data
