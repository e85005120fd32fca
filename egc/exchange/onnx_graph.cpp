#include "egc/exchange/onnx_graph.h"

#include <limits>

#include "egc/core/atomic_file.h"
#include "egc/core/error.h"
#include "egc/core/protobuf_message.h"

namespace egc::exchange {
namespace {

// The first operators with reductions of ScatterND, and the files of their time.
constexpr int64_t kOpset = 16;
constexpr int64_t kFileVersion = 8;

// Fields of the messages of onnx.proto, and values of their enumerations.
namespace model {
constexpr int kIrVersion = 1, kProducerName = 2, kGraph = 7, kOpsetImport = 8, kMetadata = 14;
}
namespace graph {
constexpr int kNode = 1, kName = 2, kInitializer = 5, kInput = 11, kOutput = 12;
}
namespace node {
constexpr int kInput = 1, kOutput = 2, kName = 3, kOpType = 4, kAttribute = 5;
}
namespace attribute {
constexpr int kName = 1, kI = 3, kS = 4, kInts = 8, kType = 20;
constexpr int kTypeInt = 2, kTypeString = 3, kTypeInts = 7;
}  // namespace attribute
namespace tensor {
constexpr int kDims = 1, kDataType = 2, kName = 8, kRawData = 9;
constexpr int kDataTypeFloat = 1, kDataTypeInt64 = 7;
}  // namespace tensor
namespace value_info {
constexpr int kName = 1, kType = 2;
}
namespace type {
constexpr int kTensorType = 1, kElemType = 1, kShape = 2;
constexpr int kDim = 1, kDimValue = 1, kDimParam = 2;
}  // namespace type
namespace opset {
constexpr int kDomain = 1, kVersion = 2;
}
namespace entry {
constexpr int kKey = 1, kValue = 2;
}

int data_type(OnnxType t) {
  return t == OnnxType::kFloat ? tensor::kDataTypeFloat : tensor::kDataTypeInt64;
}

bool is_floating(DType type) {
  return type == DType::kF64 || type == DType::kF32 || type == DType::kF16 || type == DType::kBF16;
}

ProtobufMessage describe(const std::string& name, OnnxType elements,
                         const std::vector<OnnxGraph::Dimension>& shape) {
  ProtobufMessage dims;
  for (const auto& d : shape) {
    ProtobufMessage dim;
    if (d.name.empty())
      dim.add_integer(type::kDimValue, d.size);
    else
      dim.add(type::kDimParam, d.name);
    dims.add(type::kDim, dim);
  }
  ProtobufMessage tensor_type;
  tensor_type.add_integer(type::kElemType, data_type(elements)).add(type::kShape, dims);
  ProtobufMessage of;
  of.add(type::kTensorType, tensor_type);
  ProtobufMessage out;
  out.add(value_info::kName, name).add(value_info::kType, of);
  return out;
}

ProtobufMessage describe(const std::string& name, const OnnxGraph::Attribute& value) {
  ProtobufMessage out;
  out.add(attribute::kName, name);
  if (const auto* number = std::get_if<int64_t>(&value)) {
    out.add_integer(attribute::kI, *number).add_integer(attribute::kType, attribute::kTypeInt);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    out.add(attribute::kS, *text).add_integer(attribute::kType, attribute::kTypeString);
  } else {
    for (const int64_t n : std::get<std::vector<int64_t>>(value))
      out.add_integer(attribute::kInts, n);
    out.add_integer(attribute::kType, attribute::kTypeInts);
  }
  return out;
}

}  // namespace

// Fields in the order of their numbers, as protobuf itself writes them.
struct OnnxGraph::Content {
  ProtobufMessage nodes, initializers, inputs, outputs;  // fields of the graph
  ProtobufMessage notes;                                 // fields of the model
  int64_t made = 0;                                      // names given

  std::string new_name(const std::string& what) { return fmt::format("{}_{}", what, made++); }
};

OnnxGraph::OnnxGraph() : content_(std::make_unique<Content>()) {}
OnnxGraph::~OnnxGraph() = default;

OnnxGraph::Value OnnxGraph::input(const std::string& name, OnnxType type,
                                  const std::vector<Dimension>& shape) {
  content_->inputs.add(graph::kInput, describe(name, type, shape));
  return name;
}

void OnnxGraph::output(const Value& value, const std::string& name, OnnxType type,
                       const std::vector<Dimension>& shape) {
  ProtobufMessage identity;
  identity.add(node::kInput, value).add(node::kOutput, name).add(node::kOpType, "Identity");
  content_->nodes.add(graph::kNode, identity);
  content_->outputs.add(graph::kOutput, describe(name, type, shape));
}

OnnxGraph::Value OnnxGraph::constant(const NdArray& array) {
  const bool is_integer = !is_floating(array.dtype());
  const NdArray values = array.to(is_integer ? DType::kI64 : DType::kF32);
  const TensorView view = values.view();
  const std::string name = content_->new_name("constant");
  ProtobufMessage out;
  for (const int64_t size : view.shape) out.add_integer(tensor::kDims, size);
  out.add_integer(tensor::kDataType, data_type(is_integer ? OnnxType::kInt64 : OnnxType::kFloat));
  out.add(tensor::kName, name);
  out.add(tensor::kRawData, {reinterpret_cast<const char*>(view.data.data()), view.data.size()});
  content_->initializers.add(graph::kInitializer, out);
  return name;
}

OnnxGraph::Value OnnxGraph::constant(int64_t number) {
  return constant(NdArray({}, std::span<const int64_t>(&number, 1)));
}
OnnxGraph::Value OnnxGraph::constant(const std::vector<int64_t>& numbers) {
  return constant(NdArray({std::ssize(numbers)}, std::span<const int64_t>(numbers)));
}
OnnxGraph::Value OnnxGraph::constant(double number) {
  return constant(NdArray({}, std::span<const double>(&number, 1)));
}

OnnxGraph::Value OnnxGraph::node(const std::string& op, const std::vector<Value>& inputs,
                                 const Attributes& attributes) {
  return nodes(op, inputs, 1, attributes).front();
}

std::vector<OnnxGraph::Value> OnnxGraph::nodes(const std::string& op,
                                               const std::vector<Value>& inputs, int outputs,
                                               const Attributes& attributes) {
  ProtobufMessage made;
  for (const Value& v : inputs) made.add(node::kInput, v);
  std::vector<Value> out;
  for (int k = 0; k < outputs; ++k) out.push_back(content_->new_name(op));
  for (const Value& v : out) made.add(node::kOutput, v);
  made.add(node::kName, out.front()).add(node::kOpType, op);
  for (const auto& [name, value] : attributes) made.add(node::kAttribute, describe(name, value));
  content_->nodes.add(graph::kNode, made);
  return out;
}

void OnnxGraph::note(const std::string& key, const std::string& text) {
  ProtobufMessage pair;
  pair.add(entry::kKey, key).add(entry::kValue, text);
  content_->notes.add(model::kMetadata, pair);
}

void OnnxGraph::write(const std::filesystem::path& path) const {
  const Content& c = *content_;
  ProtobufMessage whole;
  whole.append(c.nodes).add(graph::kName, "egc");
  whole.append(c.initializers).append(c.inputs).append(c.outputs);
  ProtobufMessage standard;
  standard.add(opset::kDomain, "").add_integer(opset::kVersion, kOpset);
  ProtobufMessage out;
  out.add_integer(model::kIrVersion, kFileVersion).add(model::kProducerName, "egc");
  out.add(model::kGraph, whole).add(model::kOpsetImport, standard).append(c.notes);
  if (out.bytes().size() > std::numeric_limits<int32_t>::max())
    fail(ErrorKind::kSystem, "{}: the model is too large for one ONNX file (2 GB)", path.string());
  write_whole_file(path, out.bytes());
}

}  // namespace egc::exchange
