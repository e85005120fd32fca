#include "egc/ops/edge_rows.h"

#include <algorithm>

namespace egc::ops {
namespace {

// Calls f(place in the layout, column) for every column of row r of a matrix of `rows` rows.
template <class F>
void for_each_place(const SliceLayout& layout, int64_t rows, int64_t r, F&& f) {
  for (int64_t s = 0; s < layout.num_slices(); ++s) {
    const int64_t row = layout.offset(s, rows) + r * layout.row_stride(s);
    for (int64_t b = 0; b < layout.bases; ++b)
      for (int64_t l = 0; l < layout.width(s); ++l)
        f(row + b * layout.width(s) + l, b * layout.head_width + layout.first(s) + l);
  }
}

// Adds grad_rows[r] to row `to` of the gradient of a part, if it has one.
template <class T>
class PartGradient {
 public:
  explicit PartGradient(const Tensor& part) {
    if (!part.defined() || part.gradient() == nullptr) return;
    const auto sink = part.gradient()->sink(part.rows(), part.columns(), part.dtype());
    to_ = sink.to.data<T>();
    columns_ = part.columns();
    if (!sink.accumulate) std::fill_n(to_, part.size(), T{0});
  }

  void add(int64_t row, int64_t column, T g) const {
    if (to_ != nullptr) to_[row * columns_ + column] += g;
  }

 private:
  T* to_ = nullptr;
  int64_t columns_ = 0;
};

}  // namespace

void check_edge_term(const char* operation, const EdgeTerm& term, const Csr& graph, int64_t columns,
                     DType type) {
  const EdgeFeatures& features = graph.edge_features();
  if (term.table.defined()) {
    check(features.has_types() || graph.num_edges() == 0,
          "{}: a table of edge types needs a graph whose edges have categories", operation);
    expect_matrix(operation, "the table of edge types", term.table, num_edge_types(graph), columns,
                  type);
  }
  if (term.linear.defined()) {
    check(features.has_values() || graph.num_edges() == 0,
          "{}: weights of edge numbers need a graph whose edges have numbers", operation);
    expect_matrix(operation, "the weights of edge numbers", term.linear, columns,
                  features.has_values() ? features.columns : kAnySize, type);
  }
  if (term.bias.defined())
    expect_matrix(operation, "the bias of edges", term.bias, 1, columns, type);
  if (term.self_edge.defined())
    expect_matrix(operation, "self_edge", term.self_edge, 1, columns, type);
}

Tensor edge_rows(const EdgeTerm& term, const Csr& graph, const SliceLayout& layout, DType type) {
  if (!term.present()) return {};
  const int64_t types = num_edge_types(graph);
  const int64_t rows = num_edge_rows(graph);
  const Tensor out = Tensor::zeros(rows, layout.columns(), type);
  with_type(type, [&](auto zero) {
    using T = decltype(zero);
    T* to = out.data<T>();
    for (int64_t r = 0; r < types; ++r)
      for_each_place(layout, rows, r, [&](int64_t place, int64_t c) {
        if (term.table.defined()) to[place] = term.table.data<T>()[r * term.table.columns() + c];
        if (term.bias.defined()) to[place] += term.bias.data<T>()[c];
      });
    if (term.self_edge.defined())
      for_each_place(layout, rows, types,
                     [&](int64_t place, int64_t c) { to[place] = term.self_edge.data<T>()[c]; });
    for (int64_t k = 0; term.linear.defined() && k < graph.edge_features().columns; ++k)
      for_each_place(layout, rows, types + 1 + k, [&](int64_t place, int64_t c) {
        to[place] = term.linear.data<T>()[c * term.linear.columns() + k];
      });
  });
  return out;
}

void add_edge_gradients(const EdgeTerm& term, const Csr& graph, const SliceLayout& layout,
                        const Tensor& grad_rows) {
  if (!term.present()) return;
  const int64_t types = num_edge_types(graph);
  const int64_t rows = num_edge_rows(graph);
  with_type(grad_rows.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* g = grad_rows.data<T>();
    const PartGradient<T> table(term.table);
    const PartGradient<T> bias(term.bias);
    const PartGradient<T> self_edge(term.self_edge);
    const PartGradient<T> linear(term.linear);
    for (int64_t r = 0; r < types; ++r)
      for_each_place(layout, rows, r, [&](int64_t place, int64_t c) {
        table.add(r, c, g[place]);
        bias.add(0, c, g[place]);
      });
    for_each_place(layout, rows, types,
                   [&](int64_t place, int64_t c) { self_edge.add(0, c, g[place]); });
    for (int64_t k = 0; k < graph.edge_features().columns; ++k)
      for_each_place(layout, rows, types + 1 + k,
                     [&](int64_t place, int64_t c) { linear.add(c, k, g[place]); });
  });
}

}  // namespace egc::ops
