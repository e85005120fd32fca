#include "egc/exchange/onnx_layers.h"

#include <cmath>
#include <limits>

#include "egc/core/named_table.h"

namespace egc::exchange {
namespace {

using Value = OnnxGraph::Value;

// A vector as a column.
Value column(OnnxGraph& g, const Value& v) {
  return g.node("Unsqueeze", {v, g.constant(std::vector<int64_t>{1})});
}

// As a shape [n] for operators that take shapes.
Value as_shape(OnnxGraph& g, const Value& scalar) {
  return g.node("Unsqueeze", {scalar, g.constant(std::vector<int64_t>{0})});
}

// rows x columns of one number.
Value filled(OnnxGraph& g, const Value& number, const Value& rows, int64_t columns) {
  const Value shape =
      g.node("Concat", {as_shape(g, rows), g.constant(std::vector<int64_t>{columns})},
             {{"axis", int64_t{0}}});
  return g.node("Expand", {number, shape});
}

Value range(OnnxGraph& g, const Value& end) {
  return g.node("Range", {g.constant(int64_t{0}), end, g.constant(int64_t{1})});
}

}  // namespace

OnnxEdges::OnnxEdges(OnnxGraph& graph, Value source, Value target, Value rows, Value sources)
    : graph_(graph),
      source_(std::move(source)),
      target_(std::move(target)),
      rows_(std::move(rows)),
      sources_(std::move(sources)) {}

Value OnnxEdges::gather(const Value& x) {
  return graph_.node("Gather", {x, source_}, {{"axis", int64_t{0}}});
}

Value OnnxEdges::sum(const Value& messages, int64_t columns) {
  const Value zeros = filled(graph_, graph_.constant(0.0), rows_, columns);
  return graph_.node("ScatterND", {zeros, column(graph_, target_), messages},
                     {{"reduction", std::string("add")}});
}

Value OnnxEdges::degree() {
  if (!degree_) {
    const Value edges = graph_.node("Shape", {source_});
    const Value one = graph_.node("Expand", {graph_.constant(1.0), edges});
    degree_ = sum(column(graph_, one), 1);
  }
  return *degree_;
}

Value OnnxEdges::mean_of(const Value& messages, int64_t columns) {
  const Value count = graph_.node("Max", {degree(), graph_.constant(1.0)});
  return graph_.node("Div", {sum(messages, columns), count});
}

// Of the distances to the mean, so nothing cancels.
Value OnnxEdges::variance(const Value& x, int64_t columns) {
  const Value messages = gather(x);
  const Value mean = mean_of(messages, columns);
  const Value distance = graph_.node(
      "Sub", {messages, graph_.node("Gather", {mean, target_}, {{"axis", int64_t{0}}})});
  return mean_of(graph_.node("Mul", {distance, distance}), columns);
}

// 1 / sqrt(degree of source * degree of target).
Value OnnxEdges::norm() {
  if (!norm_) {
    const Value scale =
        graph_.node("Reciprocal",
                    {graph_.node("Sqrt", {graph_.node("Max", {degree(), graph_.constant(1.0)})})});
    // A node without in-edges has scale 0.
    const Value present = graph_.node("Min", {degree(), graph_.constant(1.0)});
    const Value scaled = graph_.node("Mul", {scale, present});
    norm_ = graph_.node("Mul", {graph_.node("Gather", {scaled, source_}, {{"axis", int64_t{0}}}),
                                graph_.node("Gather", {scaled, target_}, {{"axis", int64_t{0}}})});
  }
  return *norm_;
}

// Edges in the order of their targets; the place of an edge within its row is its place minus that
// of the row's first. One edge more, from nowhere to a row of its own, so there is always one.
Value OnnxEdges::neighbours() {
  if (neighbours_) return *neighbours_;
  OnnxGraph& g = graph_;
  const auto appended = [&](const Value& list, const Value& last) {
    return g.node("Concat", {list, as_shape(g, last)}, {{"axis", int64_t{0}}});
  };
  const Value one = g.constant(int64_t{1});
  const Value source = appended(source_, sources_);
  const Value target = appended(target_, rows_);
  const Value all_rows = g.node("Add", {rows_, one});
  const Value edges = g.node("Shape", {source});
  const auto sorted =
      g.nodes("TopK", {target, edges}, 2, {{"largest", int64_t{0}}, {"sorted", int64_t{1}}});
  const Value& row = sorted[0];
  const Value from = g.node("Gather", {source, sorted[1]}, {{"axis", int64_t{0}}});
  const Value zeros = g.node("Expand", {g.constant(int64_t{0}), as_shape(g, all_rows)});
  const Value ones = g.node("Expand", {one, edges});
  const Value count =
      g.node("ScatterND", {zeros, column(g, row), ones}, {{"reduction", std::string("add")}});
  const Value first =
      g.node("CumSum", {count, g.constant(int64_t{0})}, {{"exclusive", int64_t{1}}});
  const Value edge_count = g.node("Squeeze", {edges, g.constant(std::vector<int64_t>{0})});
  const Value place =
      g.node("Sub", {range(g, edge_count), g.node("Gather", {first, row}, {{"axis", int64_t{0}}})});
  const Value widest = g.node("ReduceMax", {count}, {{"keepdims", int64_t{1}}});
  const Value shape = g.node("Concat", {as_shape(g, all_rows), widest}, {{"axis", int64_t{0}}});
  const Value nowhere = g.node("Expand", {sources_, shape});
  const Value at = g.node("Concat", {column(g, row), column(g, place)}, {{"axis", int64_t{1}}});
  const Value matrix = g.node("ScatterND", {nowhere, at, from});
  neighbours_ = g.node("Gather", {matrix, range(g, rows_)}, {{"axis", int64_t{0}}});
  return *neighbours_;
}

Value OnnxEdges::extreme(Aggregator aggregator, const Value& x, int64_t columns) {
  const bool max = aggregator == Aggregator::kMax;
  const double end = std::numeric_limits<float>::infinity() * (max ? -1.0 : 1.0);
  const Value padding =
      graph_.constant(NdArray({1, columns}, Tensor::full(1, columns, DType::kF32, end)));
  const Value padded = graph_.node("Concat", {x, padding}, {{"axis", int64_t{0}}});
  const Value all = graph_.node("Gather", {padded, neighbours()}, {{"axis", int64_t{0}}});
  const Value best = graph_.node(max ? "ReduceMax" : "ReduceMin", {all},
                                 {{"axes", std::vector<int64_t>{1}}, {"keepdims", int64_t{0}}});
  const Value some = graph_.node("Greater", {degree(), graph_.constant(0.0)});
  return graph_.node("Where", {some, best, graph_.constant(0.0)});
}

Value OnnxEdges::aggregate(Aggregator aggregator, const Value& x, int64_t columns) {
  switch (aggregator) {
    case Aggregator::kAdd:
      return sum(gather(x), columns);
    case Aggregator::kMean:
      return mean_of(gather(x), columns);
    case Aggregator::kSymnorm:
      return sum(graph_.node("Mul", {gather(x), norm()}), columns);
    case Aggregator::kMax:
    case Aggregator::kMin:
      return extreme(aggregator, x, columns);
    case Aggregator::kVar:
      return variance(x, columns);
    case Aggregator::kStd:
      return graph_.node("Sqrt",
                         {graph_.node("Add", {variance(x, columns), graph_.constant(1e-5)})});
  }
  fail(ErrorKind::kUsage, "an aggregator without an ONNX export");
}

OnnxTopology::OnnxTopology(OnnxGraph& graph, const Value& edge_index, const Value& nodes)
    : graph_(graph), nodes_(nodes) {
  const auto row = [&](int64_t k) {
    return graph.node("Gather", {edge_index, graph.constant(k)}, {{"axis", int64_t{0}}});
  };
  source_ = row(0);
  target_ = row(1);
}

OnnxEdges& OnnxTopology::edges(bool with_loops) {
  if (!with_loops) {
    if (!plain_) plain_.emplace(graph_, source_, target_, nodes_, nodes_);
    return *plain_;
  }
  if (!looped_) {
    const Value apart = graph_.node("Not", {graph_.node("Equal", {source_, target_})});
    const Value loops = range(graph_, nodes_);
    const auto replaced = [&](const Value& ends) {
      const Value kept = graph_.node("Compress", {ends, apart}, {{"axis", int64_t{0}}});
      return graph_.node("Concat", {kept, loops}, {{"axis", int64_t{0}}});
    };
    looped_.emplace(graph_, replaced(source_), replaced(target_), nodes_, nodes_);
  }
  return *looped_;
}

Value onnx_linear(OnnxGraph& graph, const Value& x, const NdArray& weight, const NdArray* bias) {
  std::vector<Value> inputs = {x, graph.constant(weight)};
  if (bias != nullptr) inputs.push_back(graph.constant(*bias));
  return graph.node("Gemm", inputs, {{"transB", int64_t{1}}});
}

namespace {

struct LayerInput {
  OnnxGraph& graph;
  OnnxTopology& topology;
  const nn::ConvSpec& spec;
  const State& state;
  const Value& x;
};

Value activated(OnnxGraph& g, WeightActivation activation, const Value& w) {
  switch (activation) {
    case WeightActivation::kIdentity:
      return w;
    case WeightActivation::kSoftmax:
      return g.node("Softmax", {w}, {{"axis", int64_t{-1}}});
    case WeightActivation::kSigmoid:
      return g.node("Sigmoid", {w});
    case WeightActivation::kHardtanh:
      return g.node("Clip", {w, g.constant(-1.0), g.constant(1.0)});
  }
  return w;
}

// Weights [N, H, A*B] times aggregates [N, A*B, L].
Value egc_layer(const LayerInput& in, const char* name) {
  OnnxGraph& g = in.graph;
  const nn::EgcConvOptions o = nn::egc_options(name, in.spec);
  const int64_t width = o.out_channels / o.heads;
  const Value bases = onnx_linear(g, in.x, in.state.at("bases_lin.weight"));
  const Value weights =
      g.node("Reshape",
             {onnx_linear(g, in.x, in.state.at("comb_lin.weight"), &in.state.at("comb_lin.bias")),
              g.constant(std::vector<int64_t>{-1, o.heads, o.aggregators.size() * o.bases})});
  std::vector<Value> parts;
  for (const Aggregator a : o.aggregators) {
    const bool loops = o.self_loops == SelfLoops::kAll ||
                       (o.self_loops == SelfLoops::kSymnorm && a == Aggregator::kSymnorm);
    const Value part = in.topology.edges(loops).aggregate(a, bases, o.bases * width);
    parts.push_back(
        g.node("Reshape", {part, g.constant(std::vector<int64_t>{-1, o.bases, width})}));
  }
  const Value aggregates = g.node("Concat", parts, {{"axis", int64_t{1}}});
  const Value heads = g.node("MatMul", {activated(g, o.activation, weights), aggregates});
  const Value y = g.node("Reshape", {heads, g.constant(std::vector<int64_t>{-1, o.out_channels})});
  return g.node("Add", {y, g.constant(in.state.at("bias"))});
}

Value egc_s(const LayerInput& in) { return egc_layer(in, "egc-s"); }
Value egc_m(const LayerInput& in) { return egc_layer(in, "egc-m"); }

Value gcn(const LayerInput& in) {
  const Value x = onnx_linear(in.graph, in.x, in.state.at("lin.weight"));
  const Value y = in.topology.edges(true).aggregate(Aggregator::kSymnorm, x, in.spec.out_channels);
  return in.graph.node("Add", {y, in.graph.constant(in.state.at("bias"))});
}

Value gin(const LayerInput& in) {
  OnnxGraph& g = in.graph;
  const Value near =
      in.topology.edges(false).aggregate(Aggregator::kAdd, in.x, in.spec.in_channels);
  const Value own = g.node(
      "Mul", {in.x, g.constant(NdArray(
                        {1}, Tensor::full(1, 1, DType::kF64, in.state.at("eps").item() + 1)))});
  return onnx_linear(g, g.node("Add", {near, own}), in.state.at("nn.weight"),
                     &in.state.at("nn.bias"));
}

Value sage(const LayerInput& in) {
  OnnxGraph& g = in.graph;
  const Aggregator a = in.spec.aggregators.value_or(AggregatorSet{Aggregator::kMean})[0];
  const Value near = in.topology.edges(false).aggregate(a, in.x, in.spec.in_channels);
  return g.node("Add",
                {onnx_linear(g, near, in.state.at("lin_l.weight"), &in.state.at("lin_l.bias")),
                 onnx_linear(g, in.x, in.state.at("lin_r.weight"))});
}

Value mlp(const LayerInput& in) {
  return onnx_linear(in.graph, in.x, in.state.at("lin.weight"), &in.state.at("lin.bias"));
}

using Layer = Value (*)(const LayerInput&);
const NamedTable<Layer>& layers() {
  static const NamedTable<Layer> table("layer with an ONNX export", {{"egc-s", &egc_s},
                                                                     {"egc-m", &egc_m},
                                                                     {"egc", &egc_s},
                                                                     {"gcn", &gcn},
                                                                     {"gin", &gin},
                                                                     {"sage", &sage},
                                                                     {"mlp", &mlp}});
  return table;
}

}  // namespace

Value onnx_conv(OnnxGraph& graph, OnnxTopology& topology, const std::string& layer,
                const nn::ConvSpec& spec, const State& state, const Value& x) {
  return layers().at(layer)({graph, topology, spec, state, x});
}

}  // namespace egc::exchange
