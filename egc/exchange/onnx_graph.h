// An ONNX model that is built node by node. Values are known by their names.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "egc/tensor/nd_array.h"

namespace egc::exchange {

enum class OnnxType { kFloat, kInt64 };

class OnnxGraph {
 public:
  using Value = std::string;
  using Attribute = std::variant<int64_t, std::string, std::vector<int64_t>>;
  using Attributes = std::vector<std::pair<std::string, Attribute>>;
  // A number, or the name of a size that is known only when it runs.
  struct Dimension {
    Dimension(int64_t number) : size(number) {}
    Dimension(const char* unknown) : name(unknown) {}
    int64_t size = 0;
    std::string name;
  };

  OnnxGraph();
  ~OnnxGraph();

  Value input(const std::string& name, OnnxType type, const std::vector<Dimension>& shape);
  void output(const Value& value, const std::string& name, OnnxType type,
              const std::vector<Dimension>& shape);

  // Arrays become float32 or int64.
  Value constant(const NdArray& array);
  Value constant(int64_t number);                       // shape []
  Value constant(const std::vector<int64_t>& numbers);  // shape [n]
  Value constant(double number);                        // shape [], float32

  Value node(const std::string& op, const std::vector<Value>& inputs,
             const Attributes& attributes = {});
  std::vector<Value> nodes(const std::string& op, const std::vector<Value>& inputs, int outputs,
                           const Attributes& attributes = {});

  // What people may want to know of the model, by name.
  void note(const std::string& key, const std::string& text);

  // Never a half-written file. What is written passes ONNX's own checker in the tests.
  void write(const std::filesystem::path& path) const;

 private:
  struct Content;
  std::unique_ptr<Content> content_;
};

}  // namespace egc::exchange
