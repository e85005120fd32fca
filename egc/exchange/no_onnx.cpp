// Stands in for onnx_graph.cpp in a build without ONNX.
#include "egc/core/error.h"
#include "egc/exchange/onnx_graph.h"

namespace egc::exchange {

struct OnnxGraph::Content {};

OnnxGraph::OnnxGraph() {
  fail(ErrorKind::kUsage,
       "cannot export to ONNX: this egc was built without it; install libonnx-dev and "
       "libprotobuf-dev and rebuild");
}
OnnxGraph::~OnnxGraph() = default;
OnnxGraph::Value OnnxGraph::input(const std::string&, OnnxType, const std::vector<Dimension>&) {
  return {};
}
void OnnxGraph::output(const Value&, const std::string&, OnnxType, const std::vector<Dimension>&) {}
OnnxGraph::Value OnnxGraph::constant(const NdArray&) { return {}; }
OnnxGraph::Value OnnxGraph::constant(int64_t) { return {}; }
OnnxGraph::Value OnnxGraph::constant(const std::vector<int64_t>&) { return {}; }
OnnxGraph::Value OnnxGraph::constant(double) { return {}; }
OnnxGraph::Value OnnxGraph::node(const std::string&, const std::vector<Value>&, const Attributes&) {
  return {};
}
std::vector<OnnxGraph::Value> OnnxGraph::nodes(const std::string&, const std::vector<Value>&,
                                               int outputs, const Attributes&) {
  return std::vector<Value>(static_cast<size_t>(outputs));
}
void OnnxGraph::note(const std::string&, const std::string&) {}
void OnnxGraph::write(const std::filesystem::path&) const {}

}  // namespace egc::exchange
