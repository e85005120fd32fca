#include "egc/nn/towers.h"

#include "egc/core/error.h"
#include "egc/nn/group.h"
#include "egc/ops/linear.h"

namespace egc::nn {

Towers make_towers(const char* layer, int64_t in_channels, int64_t out_channels, int64_t count) {
  check(count >= 1 && in_channels % count == 0 && out_channels % count == 0,
        "{}: in_channels and out_channels must be divisible by the number of towers, got {}, {} "
        "and {}",
        layer, in_channels, out_channels, count);
  return {count, in_channels / count, out_channels / count};
}

std::vector<Linear> register_towers(torch::nn::Module& parent, const char* name, int64_t count,
                                    int64_t in, int64_t out, bool nested) {
  const auto list = parent.register_module(name, std::make_shared<Group>());
  std::vector<Linear> towers;
  for (int64_t t = 0; t < count; ++t) {
    const std::string index = std::to_string(t);
    if (nested) {
      const auto inner = list->register_module(index, std::make_shared<Group>());
      towers.push_back(inner->register_module("0", Linear(in, out)));
    } else {
      towers.push_back(list->register_module(index, Linear(in, out)));
    }
  }
  return towers;
}

MessageParts message_parts(const Towers& towers, const std::vector<Linear>& messages,
                           const at::Tensor& x) {
  std::vector<at::Tensor> target;
  std::vector<at::Tensor> source;
  std::vector<at::Tensor> biases;
  std::vector<ops::LinearTerm> terms;
  for (int64_t t = 0; t < towers.count; ++t) {
    target.push_back(messages[t]->weight.narrow(1, 0, towers.in));
    source.push_back(messages[t]->weight.narrow(1, towers.in, towers.in));
    biases.push_back(messages[t]->bias);
    terms.push_back({0, t * towers.in, static_cast<int>(t), t * towers.out});
  }
  const int64_t columns = towers.count * towers.out;
  return {ops::linear_sum({x}, target, terms, at::cat(biases), columns),
          ops::linear_sum({x}, source, terms, {}, columns)};
}

at::Tensor in_degrees(const Csr& graph, const at::TensorOptions& options) {
  check(graph.weights().empty(),
        "messages of two ends have no use for edge weights, the graph has them");
  const auto offsets = graph.offsets();
  std::vector<double> degrees(static_cast<size_t>(graph.num_targets()));
  for (size_t i = 0; i < degrees.size(); ++i)
    degrees[i] = static_cast<double>(offsets[i + 1] - offsets[i]);
  return at::tensor(degrees, options.requires_grad(false)).unsqueeze(1);
}

}  // namespace egc::nn
