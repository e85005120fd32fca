// Layers as torch operators, beside those of ops/library.cpp: the layer's dense products are
// laid out for the fused pass, which composing it of operators could not do.
#include <torch/library.h>

#include "egc/core/error.h"
#include "egc/nn/egc_conv.h"
#include "egc/ops/graph_holder.h"

namespace egc::nn {
namespace {

at::Tensor egc_conv_op(const ops::GraphPtr& graph, const at::Tensor& x,
                       const at::Tensor& bases_weight, const at::Tensor& comb_weight,
                       const at::Tensor& comb_bias, const c10::optional<at::Tensor>& bias,
                       const std::vector<std::string>& aggregators, int64_t heads,
                       int64_t num_bases, const std::string& self_loops,
                       const std::string& activation) {
  check(x.dim() == 2 && bases_weight.dim() == 2 && comb_weight.dim() == 2 && num_bases >= 1 &&
            heads >= 1 && bases_weight.size(0) % num_bases == 0 &&
            bases_weight.size(1) == x.size(1) && comb_weight.size(1) == x.size(1),
        "egc_conv: expected x [N, F], bases_weight [B * L, F] and comb_weight [H * A * B, F] with "
        "B = {}, got [{}], [{}] and [{}]",
        num_bases, fmt::join(x.sizes(), ", "), fmt::join(bases_weight.sizes(), ", "),
        fmt::join(comb_weight.sizes(), ", "));
  // Tangents would be dropped without a word.
  for (const at::Tensor& t : {x, bases_weight, comb_weight, comb_bias, bias.value_or(at::Tensor())})
    check(!t.defined() || !t._fw_grad(/*level=*/0).defined(),
          "egc_conv: forward-mode differentiation is not supported");
  EgcConvOptions o(x.size(1), bases_weight.size(0) / num_bases * heads);
  o.heads = heads;
  o.bases = num_bases;
  o.aggregators = parse_aggregators(aggregators);
  o.self_loops = parse_self_loops(self_loops);
  o.activation = parse_weight_activation(activation);
  return egc_conv(o, {bases_weight, comb_weight, comb_bias, bias.value_or(at::Tensor())}, x,
                  graph->graph);
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(egc, m) {
  m.def(
      "egc_conv(__torch__.torch.classes.egc.Graph graph, Tensor x, Tensor bases_weight, Tensor "
      "comb_weight, Tensor comb_bias, Tensor? bias, str[] aggregators, int heads, int num_bases, "
      "str self_loops, str activation) -> Tensor",
      &egc_conv_op);
}

}  // namespace egc::nn
