#include "egc/bench/fusion.h"

#include <algorithm>

#include "egc/core/huge_buffer.h"
#include "egc/core/parallel.h"
#include "egc/core/rng.h"
#include "egc/engine/fused.h"
#include "egc/engine/gemm.h"
#include "egc/engine/spmm.h"
#include "egc/graph/row_split.h"
#include "egc/graph/topologies.h"

namespace egc::bench {
namespace {

HugeArray<float> random_array(int64_t count, uint64_t seed) {
  HugeArray<float> x = make_huge_array<float>(count);
  const auto ranges = split_evenly(count, int64_t{1} << 18);
  parallel_tasks(static_cast<int64_t>(ranges.size()), [&](int64_t task) {
    Rng rng(seed, static_cast<uint64_t>(task));
    for (int64_t k = ranges[task].begin; k < ranges[task].end; ++k) x[k] = rng.uniform() - 0.5F;
  });
  return x;
}

// out = sum over a of w[i, a] * parts[a][i]; what follows the passes that store aggregates.
void combine(int64_t rows, int64_t columns, const float* w, const float* parts, int64_t part_stride,
             int64_t row_stride, float* out) {
  const auto ranges = split_evenly(rows, 256);
  parallel_tasks(static_cast<int64_t>(ranges.size()), [&](int64_t task) {
    for (int64_t i = ranges[task].begin; i < ranges[task].end; ++i) {
      const float* p = parts + i * row_stride;
      float* y = out + i * columns;
      const float w0 = w[3 * i], w1 = w[3 * i + 1], w2 = w[3 * i + 2];
      for (int64_t c = 0; c < columns; ++c)
        y[c] = w0 * p[c] + w1 * p[part_stride + c] + w2 * p[2 * part_stride + c];
    }
  });
}

// The buffers of one topology and the contestants over them.
class FusionBench {
 public:
  FusionBench(Csr graph, int64_t features, uint64_t seed)
      : graph_(std::move(graph)),
        nodes_(graph_.num_targets()),
        features_(features),
        layout_(choose_slices(graph_, 1, features, sizeof(float))),
        x_(random_array(nodes_ * features, seed)),
        weights_(random_array(nodes_ * 3, seed + 1)),
        identity_(make_huge_array<float>(nodes_ * 9)),
        ones_(make_huge_array<float>(nodes_)),
        out_(make_huge_array<float>(nodes_ * features)),
        matrix_(random_array(features * features, seed + 2)),
        parts_(make_huge_array<float>(nodes_ * features * 3)) {
    for (int64_t i = 0; i < nodes_; ++i) {
      ones_[i] = 1.0F;
      for (int k = 0; k < 9; ++k) identity_[9 * i + k] = k % 4 == 0 ? 1.0F : 0.0F;
    }
  }

  const Csr& graph() const { return graph_; }

  std::vector<Contestant> contestants() {
    std::vector<Contestant> list;
    list.push_back({"matmul", [this] { matmul(); }});
    list.push_back({"spmm", [this] { spmm(graph_, layout_, x_.get(), out_.get()); }});
    list.push_back({"naive", [this] { naive(); }});
    list.push_back({"reordered", [this] { reordered(); }});
    list.push_back({"fused", [this] {
                      run({Aggregator::kAdd, Aggregator::kMax, Aggregator::kMin}, 1, weights_.get(),
                          out_.get());
                    }});
    list.push_back({"row_walk", [this] { spmm(graph_, x_.get(), features_, out_.get()); }});
    list.push_back({"copy", [this] { copy(); }});
    return list;
  }

 private:
  void run(const AggregatorSet& set, int64_t heads, const float* weights, float* out) {
    const kernels::FusedShape shape{set, SelfLoops::kNone, heads, 1, features_};
    const FusedProblem<float> problem{graph_, shape, layout_, x_.get(), weights};
    fused_forward<float>(problem, nullptr, out);
  }

  void naive() {
    const int64_t size = nodes_ * features_;
    int64_t part = 0;
    for (const Aggregator a : {Aggregator::kAdd, Aggregator::kMax, Aggregator::kMin})
      run({a}, 1, ones_.get(), parts_.get() + size * part++);
    combine(nodes_, features_, weights_.get(), parts_.get(), size, features_, out_.get());
  }

  // Three heads with the unit matrix as weights leave each aggregate in a head of its own.
  void reordered() {
    run({Aggregator::kAdd, Aggregator::kMax, Aggregator::kMin}, 3, identity_.get(), parts_.get());
    combine(nodes_, features_, weights_.get(), parts_.get(), features_, 3 * features_, out_.get());
  }

  void matmul() {
    const GemmTerm<float> term{features_,
                               features_,
                               {x_.get(), features_},
                               {matrix_.get(), features_},
                               {out_.get(), features_}};
    gemm<float>(nodes_, {&term, 1});
  }

  void copy() {
    const auto ranges = split_evenly(nodes_ * features_, int64_t{1} << 16);
    parallel_tasks(static_cast<int64_t>(ranges.size()), [&](int64_t task) {
      std::copy(x_.get() + ranges[task].begin, x_.get() + ranges[task].end,
                out_.get() + ranges[task].begin);
    });
  }

  Csr graph_;
  int64_t nodes_;
  int64_t features_;
  SliceLayout layout_;
  HugeArray<float> x_, weights_, identity_, ones_, out_, matrix_, parts_;
};

}  // namespace

FusionResult measure_fusion(const std::string& topology, int64_t features, double scale, int reps,
                            uint64_t seed) {
  FusionBench bench(make_topology(topology, seed, scale), features, seed);
  const std::vector<Contestant> contestants = bench.contestants();
  const std::vector<Timing> timings = measure(contestants, reps);
  FusionResult out{bench.graph().num_targets(), bench.graph().num_edges(), features, {}};
  for (size_t k = 0; k < contestants.size(); ++k)
    out.methods.emplace_back(contestants[k].name, timings[k]);
  return out;
}

}  // namespace egc::bench
