// A dataset as tensors of a safetensors file and a text with what is not an array: how the cache
// and parts keep it.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "egc/core/dtype.h"
#include "egc/core/error.h"
#include "egc/core/safetensors.h"
#include "egc/data/dataset.h"

namespace egc::data {

// The file stores tensors by name. Wide types first keeps all of them aligned.
template <class T>
std::string stored_name(const std::string& name) {
  return fmt::format("{}.{}", 9 - sizeof(T), name);
}

// Arrays to tensors.
struct StoreTensors {
  std::map<std::string, TensorView> tensors;

  template <class T>
  void operator()(const std::string& name, const Array<T>& a) {
    tensors[stored_name<T>(name)] = {dtype_of<T>(), {a.size()}, std::as_bytes(a.span())};
  }
  template <class T>
  void operator()(const std::string& name, const Matrix<T>& m) {
    tensors[stored_name<T>(name)] = {
        dtype_of<T>(), {m.rows(), m.columns}, std::as_bytes(m.values.span())};
  }
};

// And back; they stay in the mapped file.
struct LoadTensors {
  std::shared_ptr<const SafetensorsFile> file;

  template <class T>
  Array<T> array(const std::string& name, const TensorView& t) const {
    check_data(
        t.dtype == dtype_of<T>() && reinterpret_cast<uintptr_t>(t.data.data()) % alignof(T) == 0,
        "tensor \"{}\" has another type than expected", name);
    return {file, {reinterpret_cast<const T*>(t.data.data()), t.data.size() / sizeof(T)}};
  }
  template <class T>
  void operator()(const std::string& name, Array<T>& to) const {
    to = array<T>(name, file->at(stored_name<T>(name)));
  }
  template <class T>
  void operator()(const std::string& name, Matrix<T>& to) const {
    const TensorView& t = file->at(stored_name<T>(name));
    check_data(t.shape.size() == 2, "tensor \"{}\" must have two dimensions", name);
    to = {array<T>(name, t), t.shape[1]};
  }
};

// What is not an array, as JSON. Names that are no UTF-8 throw, or have such bytes replaced.
enum class NoUtf8 { kThrow, kReplace };
std::string structure_of(const Dataset& dataset, NoUtf8 bytes = NoUtf8::kThrow);
Dataset with_structure(const std::string& structure, const std::string& where);

// Of everything that a reader believes: names, types, shapes, values, and what is not an array.
std::string checksum(const std::map<std::string, TensorView>& tensors,
                     const std::string& structure);

}  // namespace egc::data
