// R-GCN (Schlichtkrull et al., ESWC 2018) with node types: per relation a Linear without bias of
// the neighbours' mean, per node type a root Linear. Memory O(V).
#pragma once

#include <vector>

#include "egc/nn/linear.h"
#include "egc/nn/relational_conv.h"

namespace egc::nn {

class RgcnConvImpl : public ConvModule<RgcnConvImpl>, public RelationalConv {
 public:
  RgcnConvImpl(int64_t in_channels, int64_t out_channels,
               HeteroSchema schema = HeteroSchema::homogeneous());

  void reset() override;
  void reset_parameters() override;
  at::Tensor forward(const at::Tensor& x, const Csr& graph,
                     const ops::EpilogueTensors& epilogue = {}) override {
    return forward_homogeneous(x, graph, epilogue);
  }

  std::vector<Linear> rel_lins;   // "rel_lins.<relation>"
  std::vector<Linear> root_lins;  // "root_lins.<node type>"

 protected:
  std::vector<at::Tensor> forward_types(const std::vector<at::Tensor>& x, const HeteroGraph& graph,
                                        int64_t only) override;

 private:
  int64_t in_;
  int64_t out_;
};
TORCH_MODULE(RgcnConv);

}  // namespace egc::nn
