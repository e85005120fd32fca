#include "egc/kernels/reference.h"

#include <algorithm>
#include <cmath>

namespace egc::kernels {
namespace {

struct Neighbour {
  int64_t node;
  double weight;
  int64_t edge = -1;  // of an added loop
};

// The neighbourhood of i with or without an added loop, which replaces loops of the graph.
std::vector<Neighbour> neighbours(const CsrView& g, int64_t i, bool add_loop) {
  std::vector<Neighbour> out;
  if (add_loop) out.push_back({i, 1.0});
  for (int64_t e = g.offsets[i]; e < g.offsets[i + 1]; ++e)
    if (!(add_loop && g.sources[e] == i))
      out.push_back({g.sources[e], g.weights == nullptr ? 1.0 : double{g.weights[e]}, e});
  return out;
}

bool loops_for(Aggregator a, SelfLoops mode) {
  return mode == SelfLoops::kAll || (mode == SelfLoops::kSymnorm && a == Aggregator::kSymnorm);
}

// 1/sqrt(deg) of all targets and all sources.
struct Scales {
  std::vector<double> target;
  std::vector<double> source;
};
Scales scales(const CsrView& g, bool add_loop) {
  Scales s{std::vector<double>(g.num_targets, 0.0), std::vector<double>(g.num_sources, 0.0)};
  for (int64_t i = 0; i < g.num_targets; ++i)
    for (const Neighbour& n : neighbours(g, i, add_loop)) {
      s.target[i] += n.weight;
      s.source[n.node] += n.weight;
    }
  if (g.num_targets == g.num_sources) s.source = s.target;  // in-degrees on both ends
  for (auto* v : {&s.target, &s.source})
    for (double& d : *v) d = d > 0 ? 1.0 / std::sqrt(d) : 0.0;
  return s;
}

double mean_of(const std::vector<double>& m) {
  double sum = 0;
  for (const double v : m) sum += v;
  return m.empty() ? 0 : sum / static_cast<double>(m.size());
}

double var_of(const std::vector<double>& m) {
  const double mean = mean_of(m);
  double sum = 0;
  for (const double v : m) sum += (v - mean) * (v - mean);
  return m.empty() ? 0 : sum / static_cast<double>(m.size());
}

// The value of one aggregator from the messages of one column, and d value / d message.
double aggregate(Aggregator a, const std::vector<double>& m, std::vector<double>& derivative) {
  const size_t n = m.size();
  const double count = static_cast<double>(n);
  derivative.assign(n, 0.0);
  switch (a) {
    case Aggregator::kAdd:
    case Aggregator::kSymnorm:  // the messages carry the normalisation
      derivative.assign(n, 1.0);
      return mean_of(m) * count;
    case Aggregator::kMean:
      derivative.assign(n, 1.0 / count);
      return mean_of(m);
    case Aggregator::kMax:
    case Aggregator::kMin: {
      if (n == 0) return 0;
      auto it = std::find_if(m.begin(), m.end(), [](double v) { return std::isnan(v); });
      if (it == m.end())
        it = a == Aggregator::kMax ? std::max_element(m.begin(), m.end())
                                   : std::min_element(m.begin(), m.end());
      derivative[it - m.begin()] = 1.0;  // the first of equals, and of NaNs
      return *it;
    }
    case Aggregator::kVar:
    case Aggregator::kStd: {
      const double mean = mean_of(m);
      const double var = var_of(m);
      const double std = std::sqrt(var + kStdEpsilon);
      const double outer = a == Aggregator::kVar ? 1.0 : 0.5 / std;
      for (size_t k = 0; k < n; ++k) derivative[k] = outer * 2.0 / count * (m[k] - mean);
      return a == Aggregator::kVar ? var : std;
    }
  }
  return 0;
}

// Calls f(row of the term's gradient, factor) for every part of what an edge adds.
template <class F>
void for_each_part(const EdgeTerm<double>& t, const Neighbour& n, F&& f) {
  if (n.edge < 0) return f(t.types, 1.0);
  f(t.type == nullptr ? 0 : t.type[n.edge], 1.0);
  for (int64_t k = 0; k < t.columns; ++k) f(t.types + 1 + k, t.values[n.edge * t.columns + k]);
}

// The message of a neighbour without its weight, and whether phi lets it through.
struct Message {
  double value;
  bool passes;
};
Message message(const ReferenceInput& in, const Neighbour& n, int64_t column) {
  const int64_t columns = in.shape.bases * in.shape.head_width;
  double m = in.bases[n.node * columns + column];
  if (!in.edges.present()) return {m, true};
  for_each_part(in.edges, n, [&](int64_t row, double factor) {
    // The rows of the table, then those of `linear`.
    const double* from = row <= in.edges.types
                             ? in.edges.table + row * columns
                             : in.edges.linear + (row - in.edges.types - 1) * columns;
    m += factor * from[column];
  });
  if (in.edges.relu && m <= 0) return {0, false};
  return {m, true};
}

// Calls f(i, a, b, l, value, neighbours, d value / d (x + e) of each) for every aggregate.
template <class F>
void for_each_aggregate(const ReferenceInput& in, F&& f) {
  const FusedShape& s = in.shape;
  const bool sym_loops = loops_for(Aggregator::kSymnorm, s.self_loops);
  Scales scale;
  if (s.aggregators.has(Aggregator::kSymnorm)) scale = scales(in.graph, sym_loops);
  std::vector<double> messages;
  std::vector<double> derivative;
  for (int64_t i = 0; i < in.graph.num_targets; ++i)
    for (int a = 0; a < s.aggregators.size(); ++a) {
      const Aggregator kind = s.aggregators[a];
      std::vector<Neighbour> around = neighbours(in.graph, i, loops_for(kind, s.self_loops));
      if (kind == Aggregator::kSymnorm)
        for (Neighbour& n : around) n.weight *= scale.target[i] * scale.source[n.node];
      for (int64_t b = 0; b < s.bases; ++b)
        for (int64_t l = 0; l < s.head_width; ++l) {
          messages.clear();
          for (const Neighbour& n : around)
            messages.push_back(n.weight * message(in, n, b * s.head_width + l).value);
          const double value = aggregate(kind, messages, derivative);
          for (size_t k = 0; k < around.size(); ++k)
            derivative[k] = message(in, around[k], b * s.head_width + l).passes
                                ? derivative[k] * around[k].weight
                                : 0.0;
          f(i, a, b, l, value, around, derivative);
        }
    }
}

void softmax(std::vector<double>& scores) {
  if (scores.empty()) return;
  const double greatest = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (double& s : scores) sum += s = std::exp(s - greatest);
  for (double& s : scores) s /= sum;
}

double leaky(double x, double slope) { return x > 0 ? x : slope * x; }
double leaky_derivative(double x, double slope) { return x > 0 ? 1 : slope; }

}  // namespace

std::vector<double> reference_forward(const ReferenceInput& in) {
  const FusedShape& s = in.shape;
  std::vector<double> out(in.graph.num_targets * s.out_width());
  for (size_t k = 0; k < out.size(); ++k)
    out[k] = in.bias == nullptr ? 0.0 : in.bias[static_cast<int64_t>(k) % s.out_width()];
  for_each_aggregate(
      in, [&](int64_t i, int a, int64_t b, int64_t l, double value, const auto&, const auto&) {
        if (in.weights == nullptr) {
          out[(i * s.heads + a) * s.head_width + l] += value;
          return;
        }
        for (int64_t h = 0; h < s.heads; ++h) {
          const double w = in.weights[((i * s.heads + h) * s.aggregators.size() + a) * s.bases + b];
          out[(i * s.heads + h) * s.head_width + l] += w * value;
        }
      });
  return out;
}

ReferenceGradients reference_backward(const ReferenceInput& in, const double* grad_out) {
  const FusedShape& s = in.shape;
  const int64_t columns = s.bases * s.head_width;
  ReferenceGradients grad{std::vector<double>(in.graph.num_sources * columns, 0.0), {}, {}};
  if (in.edges.present()) grad.edges.resize(in.edges.rows() * columns, 0.0);
  if (in.weights != nullptr) grad.weights.resize(in.graph.num_targets * s.weights_per_row(), 0.0);
  for_each_aggregate(
      in, [&](int64_t i, int a, int64_t b, int64_t l, double value,
              const std::vector<Neighbour>& around, const std::vector<double>& derivative) {
        double upstream = 0;
        if (in.weights == nullptr) upstream = grad_out[(i * s.heads + a) * s.head_width + l];
        for (int64_t h = 0; in.weights != nullptr && h < s.heads; ++h) {
          const int64_t w = ((i * s.heads + h) * s.aggregators.size() + a) * s.bases + b;
          const double g = grad_out[(i * s.heads + h) * s.head_width + l];
          grad.weights[w] += g * value;
          upstream += g * in.weights[w];
        }
        const int64_t column = b * s.head_width + l;
        for (size_t k = 0; k < around.size(); ++k) {
          grad.bases[around[k].node * columns + column] += upstream * derivative[k];
          if (!grad.edges.empty())
            for_each_part(in.edges, around[k], [&](int64_t row, double factor) {
              grad.edges[row * columns + column] += factor * upstream * derivative[k];
            });
        }
      });
  return grad;
}

std::vector<double> reference_spmm(CsrView g, const double* x, int64_t columns) {
  std::vector<double> out(g.num_targets * columns, 0.0);
  for (int64_t i = 0; i < g.num_targets; ++i)
    for (const Neighbour& n : neighbours(g, i, false))
      for (int64_t c = 0; c < columns; ++c)
        out[i * columns + c] += n.weight * x[n.node * columns + c];
  return out;
}

ReferenceAttention reference_attention(const AttentionInput<double>& in, const double* bias,
                                       const double* grad_out) {
  const int64_t heads = in.heads;
  const int64_t columns = in.columns();
  ReferenceAttention r;
  r.out.assign(in.graph.num_targets * columns, 0.0);
  r.grad_values.assign(in.graph.num_sources * columns, 0.0);
  if (in.is_v2) {
    r.grad_query.assign(in.graph.num_targets * columns, 0.0);
    r.grad_attention.assign(columns, 0.0);
  } else {
    r.grad_source_score.assign(in.graph.num_sources * heads, 0.0);
    r.grad_target_score.assign(in.graph.num_targets * heads, 0.0);
  }
  for (int64_t i = 0; i < in.graph.num_targets; ++i)
    for (int64_t h = 0; h < heads; ++h) {
      const std::vector<Neighbour> around = neighbours(in.graph, i, in.self_loops);
      const auto column = [&](int64_t row, int64_t c) { return row * columns + h * in.width + c; };
      std::vector<double> alpha(around.size(), 0.0);
      for (size_t k = 0; k < around.size(); ++k) {
        const int64_t j = around[k].node;
        if (!in.is_v2)
          alpha[k] =
              leaky(in.source_score[j * heads + h] + in.target_score[i * heads + h], in.slope);
        for (int64_t c = 0; in.is_v2 && c < in.width; ++c)
          alpha[k] += in.attention[column(0, c)] *
                      leaky(in.values[column(j, c)] + in.query[column(i, c)], in.slope);
      }
      softmax(alpha);
      std::vector<double> grad_alpha(around.size(), 0.0);
      double mean_grad = 0;  // the mean of grad_alpha, weighted by alpha
      for (int64_t c = 0; c < in.width; ++c)
        if (bias != nullptr) r.out[column(i, c)] = bias[column(0, c)];
      for (size_t k = 0; k < around.size(); ++k) {
        for (int64_t c = 0; c < in.width; ++c) {
          r.out[column(i, c)] += alpha[k] * in.values[column(around[k].node, c)];
          r.grad_values[column(around[k].node, c)] += alpha[k] * grad_out[column(i, c)];
          grad_alpha[k] += grad_out[column(i, c)] * in.values[column(around[k].node, c)];
        }
        mean_grad += alpha[k] * grad_alpha[k];
      }
      for (size_t k = 0; k < around.size(); ++k) {
        const int64_t j = around[k].node;
        const double grad_score = alpha[k] * (grad_alpha[k] - mean_grad);
        if (!in.is_v2) {
          const double sum = in.source_score[j * heads + h] + in.target_score[i * heads + h];
          r.grad_source_score[j * heads + h] += grad_score * leaky_derivative(sum, in.slope);
          r.grad_target_score[i * heads + h] += grad_score * leaky_derivative(sum, in.slope);
        }
        for (int64_t c = 0; in.is_v2 && c < in.width; ++c) {
          const double sum = in.values[column(j, c)] + in.query[column(i, c)];
          const double through =
              grad_score * in.attention[column(0, c)] * leaky_derivative(sum, in.slope);
          r.grad_values[column(j, c)] += through;
          r.grad_query[column(i, c)] += through;
          r.grad_attention[column(0, c)] += grad_score * leaky(sum, in.slope);
        }
      }
    }
  return r;
}

ReferenceNormAct reference_norm_act(const ReferenceNormActInput& in) {
  const auto count = static_cast<double>(in.rows);
  ReferenceNormAct r;
  r.y.assign(in.rows * in.columns, 0.0);
  r.grad_x.assign(in.rows * in.columns, 0.0);
  for (int64_t c = 0; c < in.columns; ++c) {
    std::vector<double> x;
    for (int64_t i = 0; i < in.rows; ++i) x.push_back(in.x[i * in.columns + c]);
    const double mean = in.mean != nullptr ? in.mean[c] : mean_of(x);
    const double variance = in.variance != nullptr ? in.variance[c] : var_of(x);
    const double inv_std = 1.0 / std::sqrt(variance + kNormEpsilon);
    std::vector<double> grad_normal(in.rows);  // of (x - mean) * inv_std, or of x
    double grad_weight = 0;
    double grad_bias = 0;
    double grad_mean = 0;
    double grad_variance = 0;
    for (int64_t i = 0; i < in.rows; ++i) {
      const int64_t at = i * in.columns + c;
      const double normal = (x[i] - mean) * inv_std;
      const double before = in.weight == nullptr ? x[i] : normal * in.weight[c] + in.bias[c];
      const double passes = in.relu && before <= 0 ? 0.0 : 1.0;
      const double keep = in.keep != nullptr ? in.keep[at] : 1.0;
      r.y[at] = passes * before * keep + (in.residual != nullptr ? in.residual[at] : 0.0);
      const double grad_before = in.grad_y[at] * keep * passes;
      grad_normal[i] = grad_before;
      if (in.weight == nullptr) continue;
      grad_weight += grad_before * normal;
      grad_bias += grad_before;
      grad_normal[i] = grad_before * in.weight[c];
      grad_mean -= grad_normal[i] * inv_std;
      grad_variance -= 0.5 * grad_normal[i] * (x[i] - mean) * inv_std * inv_std * inv_std;
    }
    for (int64_t i = 0; i < in.rows; ++i) {
      double& grad_x = r.grad_x[i * in.columns + c];
      grad_x = grad_normal[i] * (in.weight != nullptr ? inv_std : 1.0);
      if (in.weight != nullptr && in.mean == nullptr)  // mean and variance depend on x too
        grad_x += grad_mean / count + grad_variance * 2.0 * (x[i] - mean) / count;
    }
    r.mean.push_back(mean);
    r.variance.push_back(variance);
    r.grad_weight.push_back(grad_weight);
    r.grad_bias.push_back(grad_bias);
  }
  return r;
}

ReferenceLayerNorm reference_layer_norm(const std::vector<double>& x, const std::vector<double>& g,
                                        int64_t rows, int64_t columns) {
  const auto count = static_cast<double>(columns);
  ReferenceLayerNorm r;
  for (int64_t i = 0; i < rows; ++i) {
    const std::vector<double> row(x.begin() + i * columns, x.begin() + (i + 1) * columns);
    const double mean = mean_of(row);
    const double inv_std = 1.0 / std::sqrt(var_of(row) + kNormEpsilon);
    double grad_mean = 0;
    double grad_variance = 0;
    for (int64_t c = 0; c < columns; ++c) {
      const double grad = g[i * columns + c];
      r.normal.push_back((row[c] - mean) * inv_std);
      grad_mean -= grad * inv_std;
      grad_variance -= 0.5 * grad * (row[c] - mean) * inv_std * inv_std * inv_std;
    }
    for (int64_t c = 0; c < columns; ++c)
      r.grad_x.push_back(g[i * columns + c] * inv_std + grad_mean / count +
                         grad_variance * 2.0 * (row[c] - mean) / count);
  }
  return r;
}

}  // namespace egc::kernels
