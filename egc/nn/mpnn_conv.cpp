#include "egc/nn/mpnn_conv.h"

#include "egc/ops/fused_aggregate.h"
#include "egc/ops/linear.h"
#include "egc/ops/row_parts.h"

namespace egc::nn {

MpnnConvImpl::MpnnConvImpl(int64_t in_channels, int64_t out_channels, Aggregator aggregator,
                           int64_t towers)
    : in_(in_channels), out_(out_channels), aggregator_(aggregator), num_towers_(towers) {
  check(aggregator == Aggregator::kAdd || aggregator == Aggregator::kMax,
        "MpnnConv: the aggregator must be add or max, got {}", egc::name_of(aggregator));
  reset();
}

void MpnnConvImpl::reset() {
  towers_ = make_towers("MpnnConv", in_, out_, num_towers_);
  message_layer = register_towers(*this, "message_layer", num_towers_, 2 * towers_.in, towers_.out,
                                  /*nested=*/false);
  update_layer = register_towers(*this, "update_layer", num_towers_, towers_.out + towers_.in,
                                 towers_.out, /*nested=*/false);
  lin = register_module("lin", Linear(out_, out_));
}

void MpnnConvImpl::reset_parameters() {
  for (auto* list : {&message_layer, &update_layer})
    for (Linear& l : *list) l->reset_parameters();
  lin->reset_parameters();
}

at::Tensor MpnnConvImpl::forward(const at::Tensor& x, const Csr& graph,
                                 const ops::EpilogueTensors& epilogue) {
  check_conv_input("MpnnConv", x, graph, in_);
  const MessageParts parts = message_parts(towers_, message_layer, x);
  const at::Tensor degrees = in_degrees(graph, x.options());
  // The target's part comes once per message into a sum, once into a greatest, and not at all
  // where there is no message.
  const at::Tensor times = aggregator_ == Aggregator::kAdd ? degrees : degrees.clamp_max(1);
  const at::Tensor aggregate =
      ops::add_scaled_rows(ops::aggregate(graph, {aggregator_}, SelfLoops::kNone, parts.of_source),
                           parts.of_target, times);
  std::vector<at::Tensor> weights;
  std::vector<at::Tensor> biases;
  std::vector<ops::LinearTerm> terms;
  for (int64_t t = 0; t < num_towers_; ++t) {
    const auto first = static_cast<int>(weights.size());
    weights.push_back(update_layer[t]->weight.narrow(1, 0, towers_.out));
    weights.push_back(update_layer[t]->weight.narrow(1, towers_.out, towers_.in));
    biases.push_back(update_layer[t]->bias);
    terms.push_back({0, t * towers_.out, first, t * towers_.out});
    terms.push_back({1, t * towers_.in, first + 1, t * towers_.out});
  }
  const at::Tensor updated = ops::linear_sum({aggregate, x}, weights, terms, at::cat(biases), out_);
  return lin->forward(updated, epilogue);
}

}  // namespace egc::nn
