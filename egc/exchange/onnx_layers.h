// Graph layers in ONNX's standard operators.
//
// ONNX has sums over segments (ScatterND) but no maximum over them before its version 18: for that
// the neighbours of each node are laid out in a matrix as wide as the greatest degree.
#pragma once

#include <optional>

#include "egc/exchange/onnx_graph.h"
#include "egc/kernels/aggregator.h"
#include "egc/nn/conv_table.h"
#include "egc/tensor/nd_array.h"

namespace egc::exchange {

// Edges from rows of one matrix to `rows` rows of another, and what is derived from them once.
class OnnxEdges {
 public:
  using Value = OnnxGraph::Value;
  // source, target: int64 [E].   rows, sources: how many rows there are, int64 [].
  OnnxEdges(OnnxGraph& graph, Value source, Value target, Value rows, Value sources);

  // agg(x): [rows, columns].   x: [sources, columns].
  Value aggregate(Aggregator aggregator, const Value& x, int64_t columns);

 private:
  Value gather(const Value& x);                       // [E, columns]
  Value sum(const Value& messages, int64_t columns);  // [rows, columns]
  Value degree();                                     // float [rows, 1]
  Value mean_of(const Value& messages, int64_t columns);
  Value variance(const Value& x, int64_t columns);
  Value norm();  // float [E, 1]
  Value extreme(Aggregator aggregator, const Value& x, int64_t columns);
  Value neighbours();  // int64 [rows, greatest degree]

  OnnxGraph& graph_;
  Value source_, target_, rows_, sources_;
  std::optional<Value> degree_, norm_, neighbours_;
};

// The graph of a network: its edges as they are, and with self-loops in the place of those it has.
class OnnxTopology {
 public:
  // edge_index: int64 [2, E].   nodes: int64 [].
  OnnxTopology(OnnxGraph& graph, const OnnxGraph::Value& edge_index, const OnnxGraph::Value& nodes);
  OnnxEdges& edges(bool with_loops);

 private:
  OnnxGraph& graph_;
  OnnxGraph::Value source_, target_, nodes_;
  std::optional<OnnxEdges> plain_, looped_;
};

// x times a weight [out, in] transposed, plus a bias [out] where it is given.
OnnxGraph::Value onnx_linear(OnnxGraph& graph, const OnnxGraph::Value& x, const NdArray& weight,
                             const NdArray* bias = nullptr);

// A layer by its name in nn/conv_table.h. Throws kUsage, with the known ones, for others.
OnnxGraph::Value onnx_conv(OnnxGraph& graph, OnnxTopology& topology, const std::string& layer,
                           const nn::ConvSpec& spec, const State& state, const OnnxGraph::Value& x);

}  // namespace egc::exchange
