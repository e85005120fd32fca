// R-EGC, the relational EGC of the paper's appendix: one set of bases for everything; a weighting
// of its own for each node type's root and for each relation, computed from the target node.
//   y_i = sum_b w_root[h,b] bases[i,b] + sum_r sum_{a,b} w_r[h,a,b] agg_a over N_r(i) of bases[.,b]
// Memory O(V).
#pragma once

#include <vector>

#include "egc/kernels/aggregator.h"
#include "egc/nn/linear.h"
#include "egc/nn/relational_conv.h"

namespace egc::nn {

struct RegcConvOptions {
  RegcConvOptions(int64_t in, int64_t out) : in_channels(in), out_channels(out) {}

  int64_t in_channels;
  int64_t out_channels;  // must be divisible by heads
  int64_t heads = 4;
  int64_t bases = 4;
  AggregatorSet aggregators = {Aggregator::kMean, Aggregator::kMax};
  HeteroSchema schema = HeteroSchema::homogeneous();
};

class RegcConvImpl : public ConvModule<RegcConvImpl>, public RelationalConv {
 public:
  explicit RegcConvImpl(RegcConvOptions options);

  void reset() override;
  void reset_parameters() override;  // Glorot for the bases
  at::Tensor forward(const at::Tensor& x, const Csr& graph,
                     const ops::EpilogueTensors& epilogue = {}) override {
    return forward_homogeneous(x, graph, epilogue);
  }

  RegcConvOptions options;
  Linear bases_lin{nullptr};       // [B*L, in], without bias
  std::vector<Linear> rel_combs;   // "rel_combs.<relation>", rows ordered (h, a, b)
  std::vector<Linear> root_combs;  // "root_combs.<node type>", rows ordered (h, b)

 protected:
  std::vector<at::Tensor> forward_types(const std::vector<at::Tensor>& x, const HeteroGraph& graph,
                                        int64_t only) override;
};
TORCH_MODULE(RegcConv);

}  // namespace egc::nn
