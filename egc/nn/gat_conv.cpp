#include "egc/nn/gat_conv.h"

#include "egc/ops/assemble.h"
#include "egc/ops/linear.h"

namespace egc::nn {
namespace {

void check_heads(const char* layer, int64_t out_channels, int64_t heads) {
  check(heads >= 1 && out_channels % heads == 0,
        "{}: out_channels must be divisible by heads, got {} and {}", layer, out_channels, heads);
}

// As PyTorch initialises [1, H, C].
void glorot_of_heads(const Tensor& t, Rng& rng) {
  glorot_uniform(t, t.rows() * t.columns(), t.columns(), rng);
}

}  // namespace

GatConv::GatConv(int64_t in_channels, int64_t out_channels, ops::AttentionShape shape)
    : in_(in_channels), out_(out_channels), shape_(shape) {
  check_heads("GatConv", out_, shape_.heads);
  const int64_t width = out_ / shape_.heads;
  att_src = add_parameter("att_src", {1, shape_.heads, width});
  att_dst = add_parameter("att_dst", {1, shape_.heads, width});
  bias = add_parameter("bias", {out_});
  lin_src = add_module("lin_src", std::make_shared<Linear>(in_, out_, /*has_bias=*/false));
}

void GatConv::reset_parameters(Rng& rng) {
  glorot_uniform(lin_src->weight->value, rng);
  glorot_of_heads(att_src->value, rng);
  glorot_of_heads(att_dst->value, rng);
  bias->value.fill(0);
}

// <att, W x> = (W' att) x: the scores are products of x too. Result: [2*H, in].
Tensor GatConv::score_weights(Tape& tape) const {
  const int64_t heads = shape_.heads;
  const int64_t width = out_ / heads;
  std::vector<ops::AssemblyBlock> diagonal;
  for (int64_t h = 0; h < heads; ++h) {
    diagonal.push_back({att_src->value, h, 0, 1, width, h, h * width});
    diagonal.push_back({att_dst->value, h, 0, 1, width, heads + h, h * width});
  }
  const Tensor att = ops::assemble(tape, 2 * heads, out_, diagonal);
  const Tensor weight = ops::assemble(
      tape, in_, out_, {{lin_src->weight->value, 0, 0, out_, in_, 0, 0, /*transposed=*/true}});
  return ops::linear(tape, att, weight, {});
}

Tensor GatConv::forward(Tape& tape, const Tensor& x, const Csr& graph,
                        const ops::EpilogueTensors& epilogue) {
  check_conv_input("GatConv", x, graph, in_);
  const Tensor values = lin_src->forward(tape, x);
  const Tensor scores = ops::linear(tape, x, score_weights(tape), {});
  return ops::gat_attention(tape, graph, shape_, values, scores, bias->value, epilogue);
}

Gatv2Conv::Gatv2Conv(int64_t in_channels, int64_t out_channels, ops::AttentionShape shape)
    : in_(in_channels), shape_(shape) {
  check_heads("Gatv2Conv", out_channels, shape_.heads);
  att = add_parameter("att", {1, shape_.heads, out_channels / shape_.heads});
  bias = add_parameter("bias", {out_channels});
  lin_l = add_module("lin_l", std::make_shared<Linear>(in_channels, out_channels));
  lin_r = add_module("lin_r", std::make_shared<Linear>(in_channels, out_channels));
}

void Gatv2Conv::reset_parameters(Rng& rng) {
  for (const LinearPtr& linear : {lin_l, lin_r}) {
    glorot_uniform(linear->weight->value, rng);
    linear->bias->value.fill(0);
  }
  glorot_of_heads(att->value, rng);
  bias->value.fill(0);
}

Tensor Gatv2Conv::forward(Tape& tape, const Tensor& x, const Csr& graph,
                          const ops::EpilogueTensors& epilogue) {
  check_conv_input("Gatv2Conv", x, graph, in_);
  const Tensor values = lin_l->forward(tape, x);
  const Tensor query = lin_r->forward(tape, x);
  return ops::gatv2_attention(tape, graph, shape_, values, query, att->value, bias->value,
                              epilogue);
}

}  // namespace egc::nn
