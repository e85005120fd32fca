#include "egc/c_api/edge_term.h"

#include "egc/ops/aggregate.h"

namespace egc::c_api {
namespace {

void expect_zeros(const char* function, const char* what, std::span<const int64_t> reserved) {
  for (const int64_t value : reserved)
    check(value == 0, "{}: {}.reserved must be 0, set the struct to zero first", function, what);
}

// A part of the term with the gradient that is wanted of it.
Tensor part(const void* data, void* gradient, int64_t rows, int64_t columns, DType type) {
  return with_type(type, [&](auto zero) {
    return differentiated(matrix<decltype(zero)>(data, rows, columns), gradient);
  });
}

// Of parts that no edge uses.
void clear_gradient(const Tensor& t) {
  if (t.defined() && t.gradient() != nullptr)
    t.gradient()->add(Tensor::zeros(t.rows(), t.columns(), t.dtype()));
}

}  // namespace

EdgeTensors::EdgeTensors(const char* function, const egc_graph& graph, const egc_edge_term& given,
                         const egc_edge_gradients* gradients, int64_t columns, DType type)
    : tape_(gradients != nullptr ? Tape::differentiation() : Tape::inference()) {
  const egc_edge_gradients wanted = gradients != nullptr ? *gradients : egc_edge_gradients{};
  expect_zeros(function, "egc_edge_term", given.reserved);
  expect_zeros(function, "egc_edge_gradients", wanted.reserved);
  check(given.message == EGC_MESSAGE_IDENTITY || given.message == EGC_MESSAGE_RELU,
        "{}: egc_edge_term.message must be EGC_MESSAGE_IDENTITY or EGC_MESSAGE_RELU, got {}",
        function, given.message);
  check(given.table == nullptr || graph.num_edge_categories > 0,
        "{}: egc_edge_term.table needs a graph whose edges have categories", function);
  check(given.linear == nullptr || graph.edge_numbers > 0,
        "{}: egc_edge_term.linear needs a graph whose edges have numbers", function);
  const auto expect_owner = [&](const void* gradient, const void* data, const char* what) {
    check(gradient == nullptr || data != nullptr,
          "{}: egc_edge_gradients.{} is of a part that egc_edge_term does not have", function,
          what);
  };
  expect_owner(wanted.table, given.table, "table");
  expect_owner(wanted.linear, given.linear, "linear");
  expect_owner(wanted.bias, given.bias, "bias");
  expect_owner(wanted.self_edge, given.self_edge, "self_edge");
  term_.relu = given.message == EGC_MESSAGE_RELU;
  term_.self_edge = part(given.self_edge, wanted.self_edge, 1, columns, type);
  const Tensor table = part(given.table, wanted.table, graph.num_edge_categories, columns, type);
  term_.linear = part(given.linear, wanted.linear, columns, graph.edge_numbers, type);
  term_.bias = part(given.bias, wanted.bias, 1, columns, type);
  if (graph.csr.num_edges() == 0) {
    for (const Tensor& t : {table, term_.linear, term_.bias}) clear_gradient(t);
    term_.linear = term_.bias = {};
  } else if (table.defined()) {
    term_.table = ops::spmm(tape_, graph.rows_of_types, table);
  }
}

void EdgeTensors::finish_backward() {
  if (!term_.table.defined() || term_.table.gradient() == nullptr) return;
  tape_.backward(term_.table, term_.table.gradient()->take());
}

}  // namespace egc::c_api
