#include "egc/data/generate/generators.h"

#include <algorithm>
#include <cmath>

#include "egc/core/error.h"
#include "egc/core/nearest_name.h"

namespace egc::data {
namespace {

template <const char* kName>
Dataset topology(const GeneratorOptions& options) {
  return generate_topology(kName, options);
}

constexpr char kArxiv[] = "arxiv-like";
constexpr char kZinc[] = "zinc-batch";
constexpr char kMinibatch[] = "zinc-minibatch";
constexpr char kCode[] = "code-batch";
constexpr char kReddit[] = "reddit-like";

}  // namespace

const std::vector<Generator>& generators() {
  static const std::vector<Generator> table = {
      {"pattern", "which nodes belong to a planted pattern (14,000 graphs)", generate_pattern},
      {"cluster", "which of six communities a node belongs to (12,000 graphs)", generate_cluster},
      {"graph-props", "six properties of nodes and graphs (7,040 graphs)", generate_graph_props},
      {"molecules", "a property of molecule-like graphs (12,000 graphs)", generate_molecules},
      {"functions", "names of synthetic functions from their syntax trees (10,000 graphs)",
       generate_functions},
      {"academic", "topics of papers with authors and fields (one typed graph)", generate_academic},
      {kArxiv, "a power-law graph as large as ogbn-arxiv", topology<kArxiv>},
      {kZinc, "molecule-like graphs merged into one, with node labels", topology<kZinc>},
      {kMinibatch, "64 molecule-like graphs merged into one, with node labels",
       topology<kMinibatch>},
      {kCode, "trees merged into one graph, with node labels", topology<kCode>},
      {kReddit, "a dense power-law graph", topology<kReddit>},
  };
  return table;
}

bool is_generator(const std::string& name) {
  return std::any_of(generators().begin(), generators().end(),
                     [&](const Generator& g) { return g.name == name; });
}

Dataset generate(const std::string& name, const GeneratorOptions& options) {
  check(options.size > 0 && options.size <= 1, "--size must be in (0, 1], got {}", options.size);
  std::vector<std::string_view> known;
  for (const Generator& g : generators()) {
    if (g.name == name) {
      Dataset out = g.make(options);
      out.info.name = name;
      return out;
    }
    known.emplace_back(g.name);
  }
  fail(ErrorKind::kUsage, "unknown generator \"{}\"{}", name, spell_known(name, known));
}

int64_t scaled_count(int64_t full, double size, int64_t least) {
  return std::max(least, static_cast<int64_t>(std::llround(static_cast<double>(full) * size)));
}

}  // namespace egc::data
