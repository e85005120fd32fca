#include "egc/nn/edge_encoder.h"

#include <fmt/ranges.h>

#include <numeric>

#include "egc/core/error.h"
#include "egc/ops/aggregate.h"

namespace egc::nn {
namespace {

// The rows of the table that make each type of edge.
Csr rows_of_types(const EdgeTypes& types, const EdgeSchema& schema, int64_t table_rows) {
  const int64_t columns = types.columns;
  std::vector<int32_t> rows(types.categories.size());
  for (int64_t k = 0; k < types.size(); ++k) {
    int64_t first = 0;
    for (int64_t f = 0; f < columns; ++f) {
      const int64_t category = types.categories[k * columns + f];
      check_data(category >= 0 && category < schema.categories[f],
                 "edge features: feature {}: expected a category from 0 to {}, got {}", f,
                 schema.categories[f] - 1, category);
      rows[k * columns + f] = static_cast<int32_t>(first + category);
      first += schema.categories[f];
    }
  }
  std::vector<int64_t> offsets(static_cast<size_t>(types.size()) + 1);
  for (size_t k = 0; k < offsets.size(); ++k) offsets[k] = static_cast<int64_t>(k) * columns;
  return {types.size(), table_rows, std::move(offsets), std::move(rows)};
}

}  // namespace

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

ops::EdgeTerm EdgeEncoder::term(Tape& tape, const Csr& graph, bool relu) const {
  ops::EdgeTerm out;
  out.relu = relu;
  if (self_edge) out.self_edge = self_edge->value;
  const EdgeFeatures& f = graph.edge_features();
  if (graph.num_edges() == 0) return out;  // nothing to look up
  const int64_t given = f.has_types() ? f.types->columns : 0;
  check_data(given == std::ssize(schema.categories) && f.columns == schema.numbers,
             "edge features: the network takes edges with {}, got {} categorical feature{} and {} "
             "number{}",
             describe(schema), given, given == 1 ? "" : "s", f.columns, f.columns == 1 ? "" : "s");
  if (table)
    out.table = ops::spmm(tape, rows_of_types(*f.types, schema, table->value.rows()), table->value);
  if (lin) {
    out.linear = lin->weight->value;
    out.bias = lin->bias->value;
  }
  return out;
}

}  // namespace egc::nn
