#include "egc/exchange/onnx_graph.h"

#include <onnx/checker.h>
#include <onnx/onnx_pb.h>

#include "egc/core/atomic_file.h"
#include "egc/core/error.h"

namespace egc::exchange {
namespace {

// The first operators with reductions of ScatterND, and the files of their time.
constexpr int64_t kOpset = 16;
constexpr int64_t kFileVersion = 8;

int32_t data_type(OnnxType type) {
  return type == OnnxType::kFloat ? onnx::TensorProto::FLOAT : onnx::TensorProto::INT64;
}

bool is_floating(DType type) {
  return type == DType::kF64 || type == DType::kF32 || type == DType::kF16 || type == DType::kBF16;
}

void describe(onnx::ValueInfoProto& info, const std::string& name, OnnxType type,
              const std::vector<OnnxGraph::Dimension>& shape) {
  info.set_name(name);
  auto* tensor = info.mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(data_type(type));
  auto* dims = tensor->mutable_shape();
  for (const auto& d : shape) {
    auto* dim = dims->add_dim();
    if (d.name.empty())
      dim->set_dim_value(d.size);
    else
      dim->set_dim_param(d.name);
  }
}

void set(onnx::AttributeProto& to, const OnnxGraph::Attribute& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) {
    to.set_type(onnx::AttributeProto::INT);
    to.set_i(*number);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    to.set_type(onnx::AttributeProto::STRING);
    to.set_s(*text);
  } else {
    to.set_type(onnx::AttributeProto::INTS);
    for (const int64_t n : std::get<std::vector<int64_t>>(value)) to.add_ints(n);
  }
}

}  // namespace

struct OnnxGraph::Content {
  onnx::ModelProto model;
  int64_t made = 0;  // names given

  onnx::GraphProto& graph() { return *model.mutable_graph(); }
  std::string new_name(const std::string& what) { return fmt::format("{}_{}", what, made++); }
};

OnnxGraph::OnnxGraph() : content_(std::make_unique<Content>()) {
  content_->model.set_ir_version(kFileVersion);
  content_->model.set_producer_name("egc");
  auto* opset = content_->model.add_opset_import();
  opset->set_domain("");
  opset->set_version(kOpset);
  content_->graph().set_name("egc");
}

OnnxGraph::~OnnxGraph() = default;

OnnxGraph::Value OnnxGraph::input(const std::string& name, OnnxType type,
                                  const std::vector<Dimension>& shape) {
  describe(*content_->graph().add_input(), name, type, shape);
  return name;
}

void OnnxGraph::output(const Value& value, const std::string& name, OnnxType type,
                       const std::vector<Dimension>& shape) {
  auto* node = content_->graph().add_node();
  node->set_op_type("Identity");
  node->add_input(value);
  node->add_output(name);
  describe(*content_->graph().add_output(), name, type, shape);
}

OnnxGraph::Value OnnxGraph::constant(const NdArray& array) {
  const bool is_integer = !is_floating(array.dtype());
  const NdArray values = array.to(is_integer ? DType::kI64 : DType::kF32);
  const TensorView view = values.view();
  auto* out = content_->graph().add_initializer();
  out->set_name(content_->new_name("constant"));
  out->set_data_type(data_type(is_integer ? OnnxType::kInt64 : OnnxType::kFloat));
  for (const int64_t size : view.shape) out->add_dims(size);
  out->set_raw_data(view.data.data(), view.data.size());
  return out->name();
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
  auto* node = content_->graph().add_node();
  node->set_op_type(op);
  for (const Value& v : inputs) node->add_input(v);
  std::vector<Value> out;
  for (int k = 0; k < outputs; ++k) out.push_back(content_->new_name(op));
  for (const Value& v : out) node->add_output(v);
  node->set_name(out.front());
  for (const auto& [name, value] : attributes) {
    auto* attribute = node->add_attribute();
    attribute->set_name(name);
    set(*attribute, value);
  }
  return out;
}

void OnnxGraph::note(const std::string& key, const std::string& text) {
  auto* entry = content_->model.add_metadata_props();
  entry->set_key(key);
  entry->set_value(text);
}

void OnnxGraph::write(const std::filesystem::path& path) const {
  try {
    onnx::checker::check_model(content_->model);
  } catch (const std::exception& e) {
    fail(ErrorKind::kSystem, "ONNX rejects the model: {}", e.what());
  }
  std::string bytes;
  if (!content_->model.SerializeToString(&bytes))
    fail(ErrorKind::kSystem, "{}: the model is too large for one ONNX file (2 GB)", path.string());
  write_whole_file(path, bytes);
}

}  // namespace egc::exchange
