// A Linear of each node by itself: the layer that does not look at the graph.
#pragma once

#include "egc/nn/conv.h"
#include "egc/nn/linear.h"

namespace egc::nn {

class MlpConvImpl : public ConvModule<MlpConvImpl> {
 public:
  MlpConvImpl(int64_t in_channels, int64_t out_channels) : in_(in_channels), out_(out_channels) {
    reset();
  }

  void reset() override { lin = register_module("lin", Linear(in_, out_)); }
  void reset_parameters() override { lin->reset_parameters(); }
  at::Tensor forward(const at::Tensor& x, const Csr& graph,
                     const ops::EpilogueTensors& epilogue = {}) override {
    check_conv_input("MlpConv", x, graph, in_);
    return lin->forward(x, epilogue);
  }

  Linear lin{nullptr};

 private:
  int64_t in_;
  int64_t out_;
};
TORCH_MODULE(MlpConv);

}  // namespace egc::nn
