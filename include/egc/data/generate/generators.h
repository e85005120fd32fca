// Generated datasets. The same seed and size give the same dataset.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "egc/data/dataset.h"

namespace egc::data {

// Options of a generator.
struct GeneratorOptions {
  uint64_t seed = 0;  // of all randomness
  double size = 1;    // in (0, 1]: fraction of the full number of graphs, or of nodes
};

// A generator.
struct Generator {
  const char* name;                                  // on the command line
  const char* what;                                  // a short description
  Dataset (*make)(const GeneratorOptions& options);  // makes the dataset
};

const std::vector<Generator>& generators();  // all generators
bool is_generator(const std::string& name);  // whether there is a generator of this name
// Makes a dataset by the generator's name. Throws kUsage with the known names.
Dataset generate(const std::string& name, const GeneratorOptions& options);

// PATTERN: stochastic block models, as benchmarking-gnns defines them.
Dataset generate_pattern(const GeneratorOptions& options);
// CLUSTER: stochastic block models, as benchmarking-gnns defines them.
Dataset generate_cluster(const GeneratorOptions& options);
// Six properties of small graphs of ten kinds, after the PNA paper (Corso et al. 2020).
Dataset generate_graph_props(const GeneratorOptions& options);
// Molecule-like graphs whose target is computed from atoms, bonds and rings.
Dataset generate_molecules(const GeneratorOptions& options);
// Syntax trees of random functions; the task is to predict the words of their names.
Dataset generate_functions(const GeneratorOptions& options);
// Papers, authors and fields; the topic of a paper depends on its words, authors and citations.
Dataset generate_academic(const GeneratorOptions& options);
// A topology of `egc bench`, with random features and labels that depend on neighbours.
Dataset generate_topology(const std::string& name, const GeneratorOptions& options);

// The fraction `size` of a full count; at least `least`.
int64_t scaled_count(int64_t full, double size, int64_t least = 1);

}  // namespace egc::data
