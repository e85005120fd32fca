// Molecule-like graphs: a backbone with branches and rings of five or six, atoms within their
// valences, and a target that a network can learn from the structure: contributions of atoms and
// bonded pairs, minus a penalty for every atom in a ring beyond the sixth. Nothing here is
// chemistry.
#include <algorithm>
#include <cmath>

#include "egc/core/parallel.h"
#include "egc/data/build/dataset_builder.h"
#include "egc/data/generate/generators.h"
#include "egc/data/shuffle.h"
#include "egc/data/splits.h"

namespace egc::data {
namespace {

struct Atom {
  int valence;
  uint32_t percent;    // how often
  float contribution;  // to the target
};
// Like carbon, oxygen, nitrogen, fluorine, sulphur, chlorine.
constexpr Atom kAtoms[] = {{4, 68, 0.12F}, {2, 12, -0.55F}, {3, 12, -0.62F},
                           {1, 3, 0.31F},  {2, 3, 0.28F},   {1, 2, 0.58F}};
constexpr int32_t kAccumulators = 6;

int32_t draw_element(int min_valence, Rng& rng) {
  for (;;) {
    uint32_t percent = rng.below(100);
    for (int32_t kind = 0; kind < kAccumulators; ++kind) {
      if (percent < kAtoms[kind].percent) {
        if (kAtoms[kind].valence >= min_valence) return kind;
        break;
      }
      percent -= kAtoms[kind].percent;
    }
  }
}

class Molecule {
 public:
  explicit Molecule(Rng& rng) : rng_(rng) {
    const auto wanted = static_cast<int32_t>(9 + rng.below(29));  // 9 to 37, as ZINC's
    add_atom(-1, 1);
    while (size() < wanted && grow(wanted)) {
    }
  }

  GraphRecord record() const {
    GraphRecord g;
    g.num_nodes = size();
    g.node_categories = kind_;
    g.edges = edges_;
    g.edge_categories = bonds_;
    g.values = {target()};
    return g;
  }

 private:
  int32_t size() const { return static_cast<int32_t>(kind_.size()); }
  int free_valence(int32_t atom) const { return kAtoms[kind_[atom]].valence - used_[atom]; }

  void bond(int32_t a, int32_t b, int32_t order) {
    edges_.insert(edges_.end(), {a, b});
    bonds_.push_back(order);
    used_[a] += order;
    used_[b] += order;
  }

  int32_t add_atom(int32_t to, int min_valence) {
    kind_.push_back(draw_element(min_valence, rng_));
    used_.push_back(0);
    in_ring_.push_back(false);
    const int32_t atom = size() - 1;
    if (to >= 0) {
      const bool twice =
          free_valence(to) >= 2 && free_valence(atom) >= min_valence + 1 && rng_.below(8) == 0;
      bond(to, atom, twice ? 2 : 1);
    }
    return atom;
  }

  // An atom that can take one more, preferably a late one: chains rather than stars. -1: none.
  int32_t open_atom() {
    std::vector<int32_t> open;
    for (int32_t a = 0; a < size(); ++a)
      if (free_valence(a) >= 1) open.push_back(a);
    if (open.empty()) return -1;
    const auto late = static_cast<uint32_t>(std::min<size_t>(4, open.size()));
    return rng_.below(3) != 0 ? open[open.size() - 1 - rng_.below(late)]
                              : open[rng_.below(static_cast<uint32_t>(open.size()))];
  }

  bool grow(int32_t wanted) {
    const int32_t at = open_atom();
    if (at < 0) return false;
    const auto ring = static_cast<int32_t>(5 + rng_.below(2));
    if (rng_.below(6) == 0 && size() + ring <= wanted)
      add_ring(at, ring);
    else
      add_atom(at, size() + 1 < wanted ? 2 : 1);  // not closed before it is large enough
    return true;
  }

  void add_ring(int32_t at, int32_t length) {
    const int32_t first = add_atom(at, 3);
    in_ring_[first] = true;
    int32_t last = first;
    for (int32_t k = 1; k < length; ++k) {
      const int32_t atom = size();
      kind_.push_back(draw_element(2, rng_));
      used_.push_back(0);
      in_ring_.push_back(true);
      bond(last, atom, 1);
      last = atom;
    }
    bond(last, first, 1);
  }

  float target() const {
    float sum = 0;
    int32_t ring_atoms = 0;
    for (int32_t a = 0; a < size(); ++a) {
      sum += kAtoms[kind_[a]].contribution;
      ring_atoms += in_ring_[a] ? 1 : 0;
    }
    for (size_t e = 0; e < bonds_.size(); ++e) {
      const bool mixed = (kind_[edges_[2 * e]] == 0) != (kind_[edges_[2 * e + 1]] == 0);
      sum += mixed ? -0.2F : 0.1F;
      sum += 0.15F * static_cast<float>(bonds_[e] - 1);
    }
    return sum - 0.25F * static_cast<float>(std::max(0, ring_atoms - 6));
  }

  Rng& rng_;
  std::vector<int32_t> kind_;
  std::vector<int> used_;
  std::vector<bool> in_ring_;
  std::vector<int32_t> edges_;
  std::vector<int32_t> bonds_;
};

// Mean 0 and deviation 1 over the training part.
void standardise(std::vector<GraphRecord>& graphs, int64_t train) {
  double sum = 0;
  double squares = 0;
  for (int64_t k = 0; k < train; ++k) sum += graphs[k].values[0];
  const double mean = sum / static_cast<double>(train);
  for (int64_t k = 0; k < train; ++k) squares += std::pow(graphs[k].values[0] - mean, 2);
  const double deviation = std::max(1e-6, std::sqrt(squares / static_cast<double>(train)));
  for (GraphRecord& g : graphs) g.values[0] = static_cast<float>((g.values[0] - mean) / deviation);
}

}  // namespace

Dataset generate_molecules(const GeneratorOptions& options) {
  const int64_t train = scaled_count(10000, options.size);
  const int64_t valid = scaled_count(1000, options.size);
  const int64_t test = scaled_count(1000, options.size);
  std::vector<GraphRecord> graphs(static_cast<size_t>(train + valid + test));
  parallel_tasks(static_cast<int64_t>(graphs.size()), [&](int64_t k) {
    Rng rng(options.seed, static_cast<uint64_t>(k));
    graphs[k] = Molecule(rng).record();
  });
  standardise(graphs, train);
  DatasetBuilder builder({.node = 1, .edge = 1});
  for (const GraphRecord& g : graphs) builder.add(g);
  Dataset d = builder.finish();
  d.splits = {ranges_split("generated", train, valid, test)};
  d.info.task = Task::kGraphRegression;
  d.info.metric = Metric::kMae;
  d.info.add_inverse_edge = true;
  d.info.categories = {kAccumulators};
  d.info.edge_categories = {3};  // single 1, double 2
  return d;
}

}  // namespace egc::data
