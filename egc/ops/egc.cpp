#include "egc/ops/egc.h"

#include <optional>
#include <vector>

#include "egc/engine/fused.h"
#include "egc/engine/gemm.h"
#include "egc/ops/column_sum.h"
#include "egc/ops/edge_rows.h"
#include "egc/ops/halo_exchange.h"

namespace egc::ops {
namespace {

using kernels::FusedShape;

// Bases and weights of rows, ready for the fused passes.
struct Products {
  SliceLayout layout;
  Tensor bases;    // [num_sources, B*L] in the layout; of a part of a graph with the others' rows
  Tensor weights;  // [num_targets, H*A*B], activated
  Tensor edges;    // edge_rows() in the layout; undefined: edges add nothing
  bool relu = false;
};

SliceLayout layout_of(const EgcShape& shape, const EgcWeights& w, const Tensor& x,
                      const Csr& graph) {
  return choose_slices(graph, shape.bases, w.theta.rows() / shape.bases,
                       static_cast<int64_t>(size_of(x.dtype())));
}

FusedShape fused_shape(const EgcShape& s, int64_t head_width) {
  return {s.aggregators, s.self_loops, s.heads, s.bases, head_width};
}

template <class T>
FusedProblem<T> problem(const Csr& graph, const FusedShape& shape, const Products& p) {
  return {graph,
          shape,
          p.layout,
          p.bases.data<T>(),
          p.weights.data<T>(),
          {pointer<T>(p.edges), p.relu}};
}

// The fused pass; of a part of a graph the others' rows travel while rows that do not need them
// are computed.
void run_fused(const Csr& graph, const FusedShape& shape, Products& p, const Tensor& bias,
               const EpilogueTensors& epilogue, bool recorded, const Tensor& out) {
  std::optional<HaloRows> halo;
  if (graph.halo() != nullptr) {
    halo.emplace(*graph.halo(), p.bases);
    p.bases = halo->rows();
  }
  with_type(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const auto rows = [&](int64_t begin, int64_t end) {
      fused_forward(problem<T>(graph, shape, p), pointer<T>(bias), out.data<T>(),
                    borrow<T>(epilogue, out.rows(), out.columns(), recorded), {begin, end});
    };
    const int64_t interior = halo ? graph.halo()->interior : 0;
    if (halo) {
      rows(0, interior);
      halo->wait();
    }
    rows(interior, graph.num_targets());
  });
}

struct FusedGradients {
  Tensor bases;    // in the layout
  Tensor weights;  // of the activated weights
  Tensor edges;    // of the rows of edges
};

FusedGradients run_fused_backward(const Csr& graph, const FusedShape& shape, const Products& p,
                                  const Tensor& grad_out) {
  FusedGradients g{Tensor::empty(p.bases.rows(), p.bases.columns(), p.bases.dtype()),
                   Tensor::empty(p.weights.rows(), p.weights.columns(), p.weights.dtype()),
                   {}};
  if (p.edges.defined())
    g.edges = Tensor::empty(p.edges.rows(), p.edges.columns(), p.edges.dtype());
  with_type(grad_out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    fused_backward(problem<T>(graph, shape, p), static_cast<const T*>(grad_out.data<T>()),
                   g.bases.data<T>(), g.weights.data<T>(), pointer<T>(g.edges));
  });
  if (graph.halo() != nullptr) g.bases = return_halo(*graph.halo(), g.bases);
  return g;
}

// The rows of theta in the order of the layout's columns: slice, basis, column within the slice;
// and back, for the gradient.
template <class T, class F>
void for_each_theta_row(const SliceLayout& layout, F&& f) {
  int64_t row = 0;
  for (int64_t s = 0; s < layout.num_slices(); ++s)
    for (int64_t b = 0; b < layout.bases; ++b)
      for (int64_t l = 0; l < layout.width(s); ++l)
        f(row++, b * layout.head_width + layout.first(s) + l);
}

Tensor theta_by_slice(const Tensor& theta, const SliceLayout& layout) {
  if (layout.num_slices() <= 1) return theta;
  const Tensor out = Tensor::empty(theta.rows(), theta.columns(), theta.dtype());
  with_type(theta.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for_each_theta_row<T>(layout, [&](int64_t to, int64_t from) {
      std::copy_n(theta.data<T>() + from * theta.columns(), theta.columns(),
                  out.data<T>() + to * theta.columns());
    });
  });
  return out;
}

void add_theta_from_slices(const Tensor& by_slice, const SliceLayout& layout, const Tensor& theta) {
  const auto sink = theta.gradient()->sink(theta.rows(), theta.columns(), theta.dtype());
  with_type(theta.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const int64_t columns = theta.columns();
    for_each_theta_row<T>(layout, [&](int64_t from, int64_t to) {
      const T* g = by_slice.data<T>() + from * columns;
      T* out = sink.to.data<T>() + to * columns;
      if (!sink.accumulate)
        std::copy_n(g, columns, out);
      else
        for (int64_t c = 0; c < columns; ++c) out[c] += g[c];
    });
  });
}

// Where the columns of slice s lie, in a matrix of `rows` rows.
template <class T>
Columns<T> slice_of(const Tensor& bases, const SliceLayout& layout, int64_t s) {
  return {bases.data<std::remove_const_t<T>>() + layout.offset(s, bases.rows()),
          layout.row_stride(s)};
}

// Fills p.bases and p.weights.
void make_products(const EgcShape& shape, const EgcWeights& w, const Tensor& x,
                   const Tensor& x_target, const Tensor& theta, const Products& p) {
  const SliceLayout& layout = p.layout;
  const bool same = !x_target.defined();
  const Tensor& rows = same ? x : x_target;
  with_type(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const int64_t in = x.columns();
    std::vector<GemmTerm<T>> terms;
    for (int64_t s = 0; s < layout.num_slices(); ++s)
      terms.push_back({in,
                       layout.row_stride(s),
                       {x.data<T>(), in},
                       {theta.data<T>() + layout.bases * layout.first(s) * in, in},
                       slice_of<T>(p.bases, layout, s)});
    const GemmTerm<T> of_rows{in,
                              w.phi.rows(),
                              {rows.data<T>(), in},
                              {w.phi.data<T>(), in},
                              {p.weights.data<T>(), w.phi.rows()},
                              pointer<T>(w.phi_bias)};
    if (same) {
      terms.push_back(of_rows);
      gemm<T>(x.rows(), terms);
    } else {
      gemm<T>(x.rows(), terms);
      gemm<T>(rows.rows(), {{of_rows}});
    }
  });
  activate_weights(shape.activation, shape.heads, p.weights);
}

// From the gradients of bases and weights to those of x, theta and phi. theta: by slice.
template <class T>
void products_backward(const SliceLayout& layout, const EgcWeights& w, const Tensor& theta,
                       const Tensor& x, const Tensor& x_target, const FusedGradients& g) {
  const bool same = !x_target.defined();
  const Tensor& rows = same ? x : x_target;
  const int64_t in = x.columns();
  Gradient::Sink to_x;
  Gradient::Sink to_phi;
  if (x.gradient() != nullptr) to_x = x.gradient()->sink(x.rows(), in, x.dtype());
  if (w.phi.gradient() != nullptr) to_phi = w.phi.gradient()->sink(w.phi.rows(), in, x.dtype());
  const Tensor grad_theta =
      w.theta.gradient() != nullptr ? Tensor::empty(w.theta.rows(), in, x.dtype()) : Tensor();
  std::vector<GemmGradTerm<T>> terms;
  for (int64_t s = 0; s < layout.num_slices(); ++s) {
    const int64_t at = layout.bases * layout.first(s) * in;
    GemmGradTerm<T> t{in,
                      layout.row_stride(s),
                      {x.data<T>(), in},
                      {theta.data<T>() + at, in},
                      slice_of<const T>(g.bases, layout, s)};
    if (to_x.to.defined()) t.grad_x = {to_x.to.data<T>(), in};
    t.add_to_x = to_x.accumulate || s > 0;
    if (grad_theta.defined()) t.grad_w = {grad_theta.data<T>() + at, in};
    terms.push_back(t);
  }
  GemmGradTerm<T> of_rows{in,
                          w.phi.rows(),
                          {rows.data<T>(), in},
                          {w.phi.data<T>(), in},
                          {g.weights.data<T>(), w.phi.rows()}};
  if (to_phi.to.defined()) of_rows.grad_w = {to_phi.to.data<T>(), in};
  of_rows.add_to_w = to_phi.accumulate;
  if (same) {
    if (to_x.to.defined()) of_rows.grad_x = {to_x.to.data<T>(), in};
    of_rows.add_to_x = to_x.accumulate || !terms.empty();
    terms.push_back(of_rows);
    gemm_backward<T>(x.rows(), terms);
  } else {
    gemm_backward<T>(x.rows(), terms);
    Gradient::Sink to_rows;
    if (rows.gradient() != nullptr) {
      to_rows = rows.gradient()->sink(rows.rows(), in, rows.dtype());
      of_rows.grad_x = {to_rows.to.template data<T>(), in};
      of_rows.add_to_x = to_rows.accumulate;
    }
    gemm_backward<T>(rows.rows(), {{of_rows}});
  }
  if (grad_theta.defined()) {
    if (layout.num_slices() <= 1)
      w.theta.gradient()->add(grad_theta);
    else
      add_theta_from_slices(grad_theta, layout, w.theta);
  }
  add_column_sum<T>(g.weights, w.phi_bias);
}

void check_egc(const EgcShape& s, const EgcWeights& w, const Tensor& x, const Tensor& x_target,
               const Csr& graph) {
  check(s.heads >= 1 && s.bases >= 1, "egc: heads and bases must be at least 1, got {} and {}",
        s.heads, s.bases);
  const DType type = x.dtype();
  expect_matrix("egc", "theta", w.theta, kAnySize, kAnySize, type);
  check(w.theta.rows() > 0 && w.theta.rows() % s.bases == 0,
        "egc: theta has {} rows, which are not {} bases", w.theta.rows(), s.bases);
  expect_matrix("egc", "x", x, graph.num_own_sources(), w.theta.columns(), type);
  const int64_t terms = s.heads * s.aggregators.size() * s.bases;
  expect_matrix("egc", "phi", w.phi, terms, w.theta.columns(), type);
  if (w.phi_bias.defined()) expect_matrix("egc", "the bias of phi", w.phi_bias, 1, terms, type);
  if (w.bias.defined())
    expect_matrix("egc", "bias", w.bias, 1, w.theta.rows() / s.bases * s.heads, type);
  if (x_target.defined())
    expect_matrix("egc", "x of the targets", x_target, graph.num_targets(), w.theta.columns(),
                  type);
  else
    check(
        graph.rows_are_sources(),
        "egc: a graph whose {} targets are other nodes than its {} sources needs features of both",
        graph.num_targets(), graph.num_own_sources());
  check_fused(graph, fused_shape(s, w.theta.rows() / s.bases));
  check_edge_term("egc", w.edges, graph, w.theta.rows(), type);
}

// As egc_forward(), with an epilogue.
void forward(const EgcShape& shape, const EgcWeights& w, const Tensor& x, const Tensor& x_target,
             const Csr& graph, EgcProducts& products, const EpilogueTensors& epilogue,
             bool recorded, const Tensor& out) {
  const FusedShape fused = fused_shape(shape, w.theta.rows() / shape.bases);
  const SliceLayout layout = layout_of(shape, w, x, graph);
  Products p{layout, products.bases, products.weights, edge_rows(w.edges, graph, layout, x.dtype()),
             w.edges.relu};
  make_products(shape, w, x, x_target, theta_by_slice(w.theta, layout), p);
  run_fused(graph, fused, p, w.bias, epilogue, recorded, out);
  products.bases = p.bases;
}

}  // namespace

void egc_forward(const EgcShape& shape, const EgcWeights& w, const Tensor& x,
                 const Tensor& x_target, const Csr& graph, EgcProducts& products,
                 const Tensor& out) {
  check_egc(shape, w, x, x_target, graph);
  forward(shape, w, x, x_target, graph, products, {}, false, out);
}

void egc_backward(const EgcShape& shape, const EgcWeights& w, const Tensor& x,
                  const Tensor& x_target, const Csr& graph, const EgcProducts& products,
                  const Tensor& grad_out) {
  const FusedShape fused = fused_shape(shape, w.theta.rows() / shape.bases);
  const SliceLayout layout = layout_of(shape, w, x, graph);
  const FusedGradients g =
      run_fused_backward(graph, fused,
                         {layout, products.bases, products.weights,
                          edge_rows(w.edges, graph, layout, grad_out.dtype()), w.edges.relu},
                         grad_out);
  add_edge_gradients(w.edges, graph, layout, g.edges);
  activate_weights_backward(shape.activation, shape.heads, products.weights, g.weights);
  const Tensor theta = theta_by_slice(w.theta, layout);
  with_type(grad_out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    products_backward<T>(layout, w, theta, x, x_target, g);
    add_column_sum<T>(grad_out, w.bias);
  });
}

Tensor egc(Tape& tape, const EgcShape& shape, const EgcWeights& w, const Tensor& x,
           const Csr& graph, const EpilogueTensors& epilogue, const Tensor& x_target) {
  check_egc(shape, w, x, x_target, graph);
  const std::vector<Tensor> inputs = {
      x,      x_target,      w.theta,        w.phi,        w.phi_bias,
      w.bias, w.edges.table, w.edges.linear, w.edges.bias, w.edges.self_edge};
  const bool recorded = tape.wants(inputs);
  EgcProducts products{Tensor::empty(x.rows(), w.theta.rows(), x.dtype()),
                       Tensor::empty(graph.num_targets(), w.phi.rows(), x.dtype())};
  Tensor out =
      Tensor::empty(graph.num_targets(), w.theta.rows() / shape.bases * shape.heads, x.dtype());
  forward(shape, w, x, x_target, graph, products, epilogue, recorded, out);
  if (recorded)
    tape.record(out, inputs, [shape, w, x, x_target, graph, products](const Tensor& grad_out) {
      egc_backward(shape, w, x, x_target, graph, products, grad_out);
    });
  return out;
}

Tensor egc_aggregate(Tape& tape, const EgcShape& shape, const Tensor& bases, const Tensor& weights,
                     const Tensor& bias, const Csr& graph) {
  expect_matrix("egc_aggregate", "bases", bases, graph.num_own_sources(), kAnySize);
  check(shape.bases >= 1 && bases.columns() % shape.bases == 0,
        "egc_aggregate: {} columns are not {} bases", bases.columns(), shape.bases);
  const FusedShape fused = fused_shape(shape, bases.columns() / shape.bases);
  check_fused(graph, fused);
  expect_matrix("egc_aggregate", "weights", weights, graph.num_targets(), fused.weights_per_row(),
                bases.dtype());
  if (bias.defined())
    expect_matrix("egc_aggregate", "bias", bias, 1, fused.out_width(), bases.dtype());
  const bool recorded = tape.wants({&bases, &weights, &bias});
  Products products{SliceLayout::row_major(shape.bases, fused.head_width),
                    bases.detached(),
                    weights.detached(),
                    {}};
  Tensor out = Tensor::empty(graph.num_targets(), fused.out_width(), bases.dtype());
  run_fused(graph, fused, products, bias, {}, recorded, out);
  if (recorded)
    tape.record(out, {bases, weights, bias},
                [graph, fused, products, bases, weights, bias](const Tensor& grad_out) {
                  const FusedGradients g = run_fused_backward(graph, fused, products, grad_out);
                  if (bases.gradient() != nullptr) bases.gradient()->add(g.bases);
                  if (weights.gradient() != nullptr) weights.gradient()->add(g.weights);
                  with_type(grad_out.dtype(),
                            [&](auto zero) { add_column_sum<decltype(zero)>(grad_out, bias); });
                });
  return out;
}

}  // namespace egc::ops
