#include "egc/nn/edge_encoder.h"

#include <fmt/ranges.h>

#include <numeric>

#include "egc/core/error.h"
#include "egc/ops/aggregate.h"

namespace egc::nn {
std::string describe(const EdgeSchema& schema) {
  std::string out;
  if (!schema.categories.empty())
    out = fmt::format("{} categorical feature{} ({} categories)", schema.categories.size(),
                      schema.categories.size() == 1 ? "" : "s", fmt::join(schema.categories, ", "));
  if (schema.numbers > 0)
    out += fmt::format("{}{} number{}", out.empty() ? "" : " and ", schema.numbers,
                       schema.numbers == 1 ? "" : "s");
  return out.empty() ? "no features" : out;
}

EdgeEncoder::EdgeEncoder(EdgeSchema s, int64_t columns, bool has_loops) : schema(std::move(s)) {
  for (const int64_t count : schema.categories)
    check(count >= 1, "edge features: a feature needs at least one category, got {}", count);
  check(schema.numbers >= 0, "edge features: the number of float features must not be negative");
  if (!schema.categories.empty())
    table = add_parameter(
        "table",
        {std::accumulate(schema.categories.begin(), schema.categories.end(), int64_t{0}), columns});
  if (has_loops) self_edge = add_parameter("self_edge", {columns});
  if (schema.numbers > 0)
    lin = add_module("lin", std::make_shared<Linear>(schema.numbers, columns));
}

void EdgeEncoder::reset_parameters(Rng& rng) {
  if (table) {
    const int64_t columns = table->value.columns();
    with_type(table->value.dtype(), [&](auto zero) {
      auto* to = table->value.data<decltype(zero)>();
      for (const int64_t count : schema.categories) {
        const Tensor part = Tensor::empty(count, columns, table->value.dtype());
        glorot_uniform(part, rng);
        to = std::copy_n(part.data<decltype(zero)>(), part.size(), to);
      }
    });
  }
  if (self_edge) self_edge->value.fill(0);
  if (lin) lin->reset_parameters(rng);
}

EdgeEncoderPtr make_edge_encoder(const EdgeSchema& schema, int64_t columns, bool has_loops) {
  return schema.empty() ? nullptr : std::make_shared<EdgeEncoder>(schema, columns, has_loops);
}

ops::EdgeTerm edge_term(Tape& tape, const Csr& graph, const EdgeSchema& schema,
                        const EdgeEncoderTensors& tensors, bool relu) {
  ops::EdgeTerm out;
  out.relu = relu;
  out.self_edge = tensors.self_edge;
  const EdgeFeatures& f = graph.edge_features();
  if (graph.num_edges() == 0) return out;  // nothing to look up
  const int64_t given = f.has_types() ? f.types->columns : 0;
  check_data(given == std::ssize(schema.categories) && f.columns == schema.numbers,
             "edge features: the network takes edges with {}, got {} categorical feature{} and {} "
             "number{}",
             describe(schema), given, given == 1 ? "" : "s", f.columns, f.columns == 1 ? "" : "s");
  if (tensors.table.defined())
    out.table = ops::spmm(tape, ops::rows_of_types(*f.types, schema.categories), tensors.table);
  out.linear = tensors.linear;
  out.bias = tensors.bias;
  return out;
}

ops::EdgeTerm EdgeEncoder::term(Tape& tape, const Csr& graph, bool relu) const {
  const auto value = [](const ParameterPtr& p) { return p ? p->value : Tensor(); };
  return edge_term(tape, graph, schema,
                   {value(table), lin ? lin->weight->value : Tensor(),
                    lin ? value(lin->bias) : Tensor(), value(self_edge)},
                   relu);
}

}  // namespace egc::nn
