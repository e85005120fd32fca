// What the tests of the C interface's layers share.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

#include "egc/egc.h"
#include "egc/graph/csr.h"
#include "egc/kernels/aggregator.h"
#include "egc/tensor/tensor.h"

namespace egc::testing {

struct FreeGraph {
  void operator()(egc_graph* g) const { egc_graph_free(g); }
};
using Graph = std::unique_ptr<egc_graph, FreeGraph>;

inline Graph graph_of(const Csr& csr) {
  std::vector<int64_t> sources(csr.sources().begin(), csr.sources().end());
  egc_graph* out = nullptr;
  EXPECT_EQ(
      egc_graph_from_csr(csr.num_targets(), csr.is_square() ? EGC_SAME_NODES : csr.num_sources(),
                         csr.offsets().data(), sources.data(),
                         csr.weights().empty() ? nullptr : csr.weights().data(), &out),
      EGC_OK)
      << egc_last_error();
  return Graph(out);
}

inline egc_layer layer_of(const AggregatorSet& set, SelfLoops loops, DType type) {
  egc_layer out = {};
  out.dtype = type == DType::kF64 ? EGC_FLOAT64 : EGC_FLOAT32;
  out.num_aggregators = set.size();
  for (int k = 0; k < set.size(); ++k) out.aggregators[k] = static_cast<int32_t>(set[k]);
  out.self_loops = static_cast<int32_t>(loops);
  out.negative_slope = 0.2;
  out.heads = 2;
  out.bases = 3;
  out.width = 5;
  out.in_channels = 4;
  return out;
}

inline bool same(const Tensor& a, const Tensor& b) {
  return a.num_bytes() == b.num_bytes() && std::memcmp(a.raw(), b.raw(), a.num_bytes()) == 0;
}

// The memory of a tensor, filled with what must be overwritten.
inline Tensor dirty(int64_t rows, int64_t columns, DType type) {
  return Tensor::full(rows, columns, type, 1e30);
}

}  // namespace egc::testing
