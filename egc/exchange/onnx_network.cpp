#include "egc/exchange/onnx_network.h"

#include <cmath>
#include <limits>

#include "egc/core/error.h"
#include "egc/exchange/onnx_layers.h"
#include "egc/graph/node_encodings.h"
#include "egc/models/body.h"
#include "egc/ops/norm_act.h"
#include "egc/tensor/nd_array.h"

namespace egc::exchange {
namespace {

using models::Encoder;
using models::ModelConfig;
using Value = OnnxGraph::Value;

class NetworkWriter {
 public:
  explicit NetworkWriter(const models::Network& network)
      : c_(network.config()), state_(network.state()) {
    check(c_.task != Task::kNodeClassificationHetero && c_.model != "ga-mlp",
          "ONNX: cannot export networks with {} layers for the task {}", c_.model,
          tasks().name_of(c_.task));
    check(
        !c_.edge_features,
        "ONNX: cannot export a network of {} layers that use features of edges; train one without "
        "edge_features",
        c_.model);
  }

  void write(const std::filesystem::path& path) {
    const bool graphs = is_graph_task(c_.task);
    const bool floats = c_.categories.empty();
    const Value features =
        g_.input("x", floats ? OnnxType::kFloat : OnnxType::kInt64,
                 {"nodes", floats ? c_.features : static_cast<int64_t>(c_.categories.size())});
    const Value edge_index = g_.input("edge_index", OnnxType::kInt64, {int64_t{2}, "edges"});
    const Value nodes = size_of_first(features);
    OnnxTopology topology(g_, edge_index, nodes);
    Value x = encode(features);
    if (const int64_t columns = num_columns(parse_encodings(c_.encode)); columns > 0)
      x = g_.node("Add",
                  {x, encoding(g_.input("encodings", OnnxType::kFloat, {"nodes", columns}))});
    Membership of;
    if (graphs) of = {g_.input("graph", OnnxType::kInt64, {"nodes"}), nodes, {}};
    if (c_.virtual_node) of.graphs = count_graphs(of);
    Value state = c_.virtual_node ? first_state(of) : Value();
    for (int64_t k = 0; k < c_.layers; ++k) {
      const Value before = c_.virtual_node ? spread(of, state, x) : x;
      if (c_.virtual_node && k + 1 < c_.layers) state = next_state(of, k, state, before);
      x = block(topology, k, before);
    }
    if (graphs) x = read_out(of, x);
    std::vector<OnnxGraph::Dimension> shape = {graphs ? "graphs" : "nodes"};
    if (c_.task == Task::kGraphSequence) shape.push_back(c_.sequence_length);
    shape.push_back(c_.outputs);
    g_.output(head(x), "output", OnnxType::kFloat, shape);
    g_.note("config", models::to_json(c_));
    g_.write(path);
  }

 private:
  const NdArray& array(const std::string& name) const { return state_.at(name); }

  // The tensors below a prefix, without it.
  State below(const std::string& prefix) const {
    State out;
    for (const auto& [name, array] : state_)
      if (name.starts_with(prefix)) out[name.substr(prefix.size())] = array;
    return out;
  }

  Value size_of_first(const Value& x) {
    return g_.node("Gather", {g_.node("Shape", {x}), g_.constant(int64_t{0})},
                   {{"axis", int64_t{0}}});
  }

  Value encode(const Value& x) {
    if (c_.encoder == Encoder::kNone) return x;
    if (c_.encoder == Encoder::kLinear)
      return onnx_linear(g_, x, array("encoder.lin.weight"), &array("encoder.lin.bias"));
    // The tables lie one under the other.
    std::vector<int64_t> first;
    std::vector<int64_t> most;
    int64_t rows = 0;
    for (const int64_t count : c_.categories) {
      first.push_back(rows);
      most.push_back(count - 1);
      rows += count;
    }
    Value category = x;
    if (c_.encoder == Encoder::kAst) {  // the depth, which is clipped
      for (size_t k = 0; k + 1 < most.size(); ++k) most[k] = std::numeric_limits<int64_t>::max();
      category = g_.node("Min", {x, g_.constant(most)});
    }
    const Value row = g_.node("Add", {category, g_.constant(first)});
    const Value embedded =
        g_.node("Gather", {g_.constant(array("encoder.weight")), row}, {{"axis", int64_t{0}}});
    return g_.node("ReduceSum", {embedded, g_.constant(std::vector<int64_t>{1})},
                   {{"keepdims", int64_t{0}}});
  }

  // What encodings of nodes add to the encoder's result.
  Value encoding(const Value& p) { return linear("encoding.lin.", norm("encoding.norm.", p)); }

  Value linear(const std::string& prefix, const Value& x) {
    return onnx_linear(g_, x, array(prefix + "weight"), &array(prefix + "bias"));
  }

  Value norm_relu(const std::string& prefix, const Value& x) {
    return g_.node("Relu", {norm(prefix, x)});
  }

  // x itself where the network has no norm of that name.
  Value norm(const std::string& prefix, const Value& x) {
    if (state_.contains(prefix + "running_mean")) return batch_norm(prefix, x);
    return state_.contains(prefix + "weight") ? layer_norm(prefix, x) : x;
  }

  // In steps: the operator of that name came with the next version.
  Value layer_norm(const std::string& prefix, const Value& x) {
    const auto mean_of_row = [&](const Value& of) {
      return g_.node("ReduceMean", {of},
                     {{"axes", std::vector<int64_t>{1}}, {"keepdims", int64_t{1}}});
    };
    const Value off = g_.node("Sub", {x, mean_of_row(x)});
    const Value variance = mean_of_row(g_.node("Mul", {off, off}));
    const Value deviation =
        g_.node("Sqrt", {g_.node("Add", {variance, g_.constant(ops::LayerNormTensors{}.eps)})});
    const Value scaled =
        g_.node("Mul", {g_.node("Div", {off, deviation}), g_.constant(array(prefix + "weight"))});
    return g_.node("Add", {scaled, g_.constant(array(prefix + "bias"))});
  }

  // Of the running statistics, as one factor and one summand.
  Value batch_norm(const std::string& prefix, const Value& x) {
    const auto values = [&](const char* name) {
      const NdArray wide = array(prefix + name).to(DType::kF64);
      return std::vector<double>(wide.values<double>().begin(), wide.values<double>().end());
    };
    std::vector<double> scale = values("weight");
    std::vector<double> shift = values("bias");
    const std::vector<double> mean = values("running_mean");
    const std::vector<double> variance = values("running_var");
    for (size_t c = 0; c < scale.size(); ++c) {
      scale[c] /= std::sqrt(variance[c] + ops::BatchNormTensors{}.eps);
      shift[c] -= mean[c] * scale[c];
    }
    const auto constant = [&](const std::vector<double>& v) {
      return g_.constant(NdArray({std::ssize(v)}, std::span<const double>(v)));
    };
    const Value scaled = g_.node("Mul", {x, constant(scale)});
    return g_.node("Add", {scaled, constant(shift)});
  }

  Value block(OnnxTopology& topology, int64_t k, const Value& x) {
    const std::string prefix = fmt::format("body.blocks.{}.", k);
    const Value y =
        onnx_conv(g_, topology, c_.model, models::conv_spec(c_, k), below(prefix + "conv."), x);
    // Without an encoder the last layer's result is the network's.
    if (c_.encoder == Encoder::kNone && k + 1 == c_.layers) return y;
    const Value z = norm_relu(prefix + "norm.", y);
    const Value sum = c_.residual ? g_.node("Add", {z, x}) : z;
    return c_.feed_forward > 0 ? feed_forward(prefix + "feed_forward.", sum) : sum;
  }

  Value feed_forward(const std::string& prefix, const Value& x) {
    const Value inner = g_.node("Relu", {linear(prefix + "linears.0.", x)});
    const Value sum = g_.node("Add", {linear(prefix + "linears.1.", inner), x});
    return norm(prefix + "norm.", sum);
  }

  // Which graph each node is of.
  struct Membership {
    Value graph;   // int64 [nodes]
    Value nodes;   // how many there are
    Value graphs;  // likewise; empty until it is counted
  };

  Value count_graphs(const Membership& of) {
    const Value last = g_.node("ReduceMax", {of.graph}, {{"keepdims", int64_t{0}}});
    return g_.node("Add", {last, g_.constant(int64_t{1})});
  }

  // An aggregation whose targets are the graphs.
  Value pool(const Membership& of, Aggregator aggregator, const Value& x) {
    const Value all =
        g_.node("Range", {g_.constant(int64_t{0}), of.nodes, g_.constant(int64_t{1})});
    const Value graphs = of.graphs.empty() ? count_graphs(of) : of.graphs;
    return OnnxEdges(g_, all, of.graph, graphs, of.nodes).aggregate(aggregator, x, c_.hidden);
  }

  Value read_out(const Membership& of, const Value& x) {
    const Aggregator aggregator = c_.readout == models::Readout::kMean  ? Aggregator::kMean
                                  : c_.readout == models::Readout::kSum ? Aggregator::kAdd
                                                                        : Aggregator::kMax;
    return pool(of, aggregator, x);
  }

  // The state of the virtual nodes, [graphs, hidden], as in models/virtual_node.h.
  Value first_state(const Membership& of) {
    const Value rows = g_.node("Unsqueeze", {of.graphs, g_.constant(std::vector<int64_t>{0})});
    const Value shape = g_.node("Concat", {rows, g_.constant(std::vector<int64_t>{c_.hidden})},
                                {{"axis", int64_t{0}}});
    return g_.node("Expand", {g_.constant(array("body.virtual_node.embedding")), shape});
  }

  Value spread(const Membership& of, const Value& state, const Value& x) {
    return g_.node("Add", {x, g_.node("Gather", {state, of.graph}, {{"axis", int64_t{0}}})});
  }

  Value next_state(const Membership& of, int64_t k, const Value& state, const Value& x) {
    const std::string prefix = fmt::format("body.virtual_node.updates.{}.", k);
    Value y = g_.node("Add", {pool(of, Aggregator::kAdd, x), state});
    for (int j = 0; j < 2; ++j)
      y = norm_relu(fmt::format("{}norms.{}.", prefix, j),
                    linear(fmt::format("{}linears.{}.", prefix, j), y));
    return c_.residual ? g_.node("Add", {y, state}) : y;
  }

  Value head(Value x) {
    if (c_.task == Task::kGraphSequence) {
      std::vector<Value> positions;
      for (int64_t k = 0; k < c_.sequence_length; ++k) {
        const std::string prefix = fmt::format("head.positions.{}.", k);
        const Value scores = onnx_linear(g_, x, array(prefix + "weight"), &array(prefix + "bias"));
        positions.push_back(g_.node("Unsqueeze", {scores, g_.constant(std::vector<int64_t>{1})}));
      }
      return g_.node("Concat", positions, {{"axis", int64_t{1}}});
    }
    if (c_.task == Task::kNodeClassification) {
      const Value scores =
          c_.encoder == Encoder::kNone
              ? g_.node("Slice", {x, g_.constant(std::vector<int64_t>{0}),
                                  g_.constant(std::vector<int64_t>{c_.outputs}),
                                  g_.constant(std::vector<int64_t>{1})})
              : onnx_linear(g_, x, array("head.lin.weight"), &array("head.lin.bias"));
      return g_.node("LogSoftmax", {scores}, {{"axis", int64_t{1}}});
    }
    for (int64_t k = 0; state_.contains(fmt::format("head.mlp.linears.{}.weight", k)); ++k) {
      const std::string linear = fmt::format("head.mlp.linears.{}.", k);
      const std::string norm = fmt::format("head.mlp.norms.{}.", k);
      x = onnx_linear(g_, x, array(linear + "weight"), &array(linear + "bias"));
      if (state_.contains(norm + "weight"))
        x = norm_relu(norm, x);
      else if (state_.contains(fmt::format("head.mlp.linears.{}.weight", k + 1)))
        x = g_.node("Relu", {x});
    }
    return x;
  }

  const ModelConfig& c_;
  State state_;
  OnnxGraph g_;
};

}  // namespace

void write_onnx(const std::filesystem::path& path, const models::Network& network) {
  NetworkWriter(network).write(path);
}

}  // namespace egc::exchange
