#include "egc/torch/graph.h"

#include <ATen/ATen.h>

#include <limits>

#include "egc/torch/autograd.h"

namespace egc::torch {
namespace {

template <class T>
std::vector<T> values_of(const at::Tensor& t, at::ScalarType type) {
  const at::Tensor same = t.detach().cpu().to(type).contiguous();
  return {same.data_ptr<T>(), same.data_ptr<T>() + same.numel()};
}

std::vector<float> constant_weights(const at::Tensor& weight) {
  if (!weight.defined()) return {};
  check(!weight.requires_grad(), "Graph: edge weights are constants, without gradient");
  return values_of<float>(weight, at::kFloat);
}

void check_attr(const char* what, const at::Tensor& t, int64_t num_edges, bool of_integers) {
  check((of_integers ? at::isIntegralType(t.scalar_type(), /*includeBool=*/false)
                     : at::isFloatingType(t.scalar_type())) &&
            (t.dim() == 1 || t.dim() == 2) && t.size(0) == num_edges,
        "Graph: {} edges need {} of {} [{}, columns], got {}", num_edges, what,
        of_integers ? "integers" : "floats", num_edges, describe(t));
  check(!t.requires_grad(), "Graph: {} of edges are constants, without gradient", what);
}

// Checked here: a category beyond 32 bits must not wrap around to a good one.
void check_categories(const at::Tensor& t) {
  check(t.numel() == 0 || (t.min().item<int64_t>() >= 0 &&
                           t.max().item<int64_t>() < std::numeric_limits<int32_t>::max()),
        "Graph: categories of edges must be from 0 to {}", std::numeric_limits<int32_t>::max() - 1);
}

EdgeFeatures features_of(const EdgeAttr& attr, int64_t num_edges) {
  const auto columns = [](const at::Tensor& t) { return t.dim() == 1 ? 1 : t.size(1); };
  EdgeFeatures out;
  if (attr.categories.defined()) {
    check_attr("categories", attr.categories, num_edges, true);
    check_categories(attr.categories);
    out = edge_types(values_of<int32_t>(attr.categories, at::kInt), columns(attr.categories));
  }
  if (attr.numbers.defined()) {
    check_attr("numbers", attr.numbers, num_edges, false);
    out.columns = columns(attr.numbers);
    if (attr.numbers.scalar_type() == at::kDouble)
      out.exact = values_of<double>(attr.numbers, at::kDouble);
    else
      out.values = values_of<float>(attr.numbers, at::kFloat);
  }
  return out;
}

}  // namespace

Csr graph_from_edge_index(const at::Tensor& edge_index, int64_t num_nodes,
                          const at::Tensor& edge_weight, const EdgeAttr& edge_attr) {
  check(edge_index.dim() == 2 && edge_index.size(0) == 2 && edge_index.scalar_type() == at::kLong,
        "Graph: edge_index must be int64 [2, E], got {}", describe(edge_index));
  const at::Tensor edges = edge_index.cpu().contiguous();
  const auto count = static_cast<size_t>(edges.size(1));
  const int64_t* source = edges.data_ptr<int64_t>();
  const std::vector<float> weights = constant_weights(edge_weight);
  check(!edge_weight.defined() || weights.size() == count, "Graph: {} edges have {} edge weights",
        count, weights.size());
  return Csr::from_edges(num_nodes, {source, count}, {source + count, count}, weights,
                         features_of(edge_attr, edges.size(1)));
}

Csr graph_from_csr(const at::Tensor& offsets, const at::Tensor& sources,
                   const at::Tensor& edge_weight) {
  check(offsets.dim() == 1 && offsets.numel() >= 1 && sources.dim() == 1 &&
            at::isIntegralType(offsets.scalar_type(), /*includeBool=*/false) &&
            at::isIntegralType(sources.scalar_type(), /*includeBool=*/false),
        "Graph: offsets and sources must be lists of whole numbers, got {} and {}",
        describe(offsets), describe(sources));
  const int64_t nodes = offsets.numel() - 1;
  // Checked here: a source beyond 32 bits must not wrap around to a good one.
  check(sources.numel() == 0 ||
            (sources.min().item<int64_t>() >= 0 && sources.max().item<int64_t>() < nodes),
        "Graph: sources must be from 0 to {}", nodes - 1);
  return {nodes, values_of<int64_t>(offsets, at::kLong), values_of<int32_t>(sources, at::kInt),
          constant_weights(edge_weight)};
}

}  // namespace egc::torch
