#include "egc/nn/gat_conv.h"

#include <torch/nn/init.h>

#include "egc/nn/parameter.h"
#include "egc/ops/linear.h"
#include "egc/ops/linear_pair.h"

namespace egc::nn {

GatConvImpl::GatConvImpl(int64_t in_channels, int64_t out_channels, ops::AttentionShape shape)
    : in_(in_channels), out_(out_channels), shape_(shape) {
  reset();
}

void GatConvImpl::reset() {
  check(shape_.heads >= 1 && out_ % shape_.heads == 0,
        "GatConv: out_channels must be divisible by heads, got {} and {}", out_, shape_.heads);
  const int64_t width = out_ / shape_.heads;
  lin_src = register_module("lin_src", Linear(in_, out_, /*has_bias=*/false));
  att_src = register_parameter("att_src", new_parameter({1, shape_.heads, width}));
  att_dst = register_parameter("att_dst", new_parameter({1, shape_.heads, width}));
  bias = register_parameter("bias", new_parameter({out_}));
  reset_parameters();
}

void GatConvImpl::reset_parameters() {
  at::NoGradGuard no_grad;
  for (const at::Tensor& t : {lin_src->weight, att_src, att_dst})
    torch::nn::init::xavier_uniform_(t);
  bias.zero_();
}

at::Tensor GatConvImpl::forward(const at::Tensor& x, const Csr& graph,
                                const ops::EpilogueTensors& epilogue) {
  check_conv_input("GatConv", x, graph, in_);
  // <att, W x> = (W' att) x: the scores are products of x too.
  const int64_t heads = shape_.heads;
  const int64_t width = out_ / heads;
  std::vector<at::Tensor> by_head;
  std::vector<ops::LinearTerm> terms;
  for (int64_t h = 0; h < heads; ++h) {
    terms.push_back({0, h * width, static_cast<int>(h), h * in_});
    by_head.push_back(lin_src->weight.narrow(0, h * width, width).t());
  }
  const at::Tensor att = at::cat({att_src.view({1, -1}), att_dst.view({1, -1})});
  const at::Tensor scores =
      ops::linear_sum({att}, by_head, terms, {}, heads * in_).view({2 * heads, in_});
  const auto [values, node_scores] =
      ops::linear_pair(x, lin_src->weight, scores, {}, SliceLayout::row_major(1, out_));
  return ops::gat_attention(graph, shape_, values, node_scores, bias, epilogue);
}

}  // namespace egc::nn
