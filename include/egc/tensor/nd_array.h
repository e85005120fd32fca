// Arrays of any shape and type, for files and for the state of networks. Layers compute on Tensor.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "egc/core/error.h"
#include "egc/core/safetensors.h"
#include "egc/tensor/tensor.h"

namespace egc {

// A contiguous, immutable array. Copies share memory.
class NdArray {
 public:
  NdArray() = default;  // an empty array, [0]
  // Copies the view.
  explicit NdArray(const TensorView& view);
  // Copies the values. Throws kUsage unless their number fits the shape.
  template <class T>
  NdArray(std::vector<int64_t> shape, std::span<const T> values);
  // Copies a tensor's values under another shape of the same size.
  NdArray(std::vector<int64_t> shape, const Tensor& tensor);

  DType dtype() const { return dtype_; }                        // element type
  const std::vector<int64_t>& shape() const { return shape_; }  // extents
  int64_t dim() const { return std::ssize(shape_); }            // number of dimensions
  // Extent of a dimension; negative: counted from the last.
  int64_t size(int64_t dimension) const;
  int64_t numel() const;  // number of elements
  // Valid while the array lives.
  TensorView view() const { return {dtype_, shape_, {data_.get(), num_bytes()}}; }
  // Size in memory.
  size_t num_bytes() const { return static_cast<size_t>(numel()) * size_of(dtype_); }

  // The elements. Throws kUsage unless T is their type.
  template <class T>
  std::span<const T> values() const;
  double item() const;  // the only element

  NdArray to(DType type) const;                        // converted to another type
  NdArray reshaped(std::vector<int64_t> shape) const;  // one extent may be -1
  NdArray transposed() const;                          // of a matrix
  // `count` rows from `first`, along dimension 0.
  NdArray rows(int64_t first, int64_t count) const;
  // Swaps dimensions 1 and 2 of an array with at least three.
  NdArray swapped_inner() const;
  static NdArray concat(const std::vector<NdArray>& parts);  // along dimension 0
  static NdArray stack(const std::vector<NdArray>& parts);   // along a new dimension 0
  bool equals(const NdArray& other) const;                   // same type, shape and bits

  // As a matrix of float32 or float64: all dimensions but the last become rows.
  Tensor to_tensor(DType type) const;

 private:
  NdArray(DType type, std::vector<int64_t> shape);
  std::byte* bytes() const { return data_.get(); }

  DType dtype_ = DType::kF32;
  std::vector<int64_t> shape_ = {0};
  std::shared_ptr<std::byte[]> data_;
};

// A shape for messages: "[3, 4]".
std::string spell_shape(const std::vector<int64_t>& shape);

// The state of a module, like PyTorch's state_dict: parameters and buffers by name.
using State = std::map<std::string, NdArray>;

template <class T>
NdArray::NdArray(std::vector<int64_t> shape, std::span<const T> values)
    : NdArray(dtype_of<T>(), std::move(shape)) {
  check(numel() == std::ssize(values), "{} values cannot be {}", values.size(),
        spell_shape(shape_));
  std::copy(values.begin(), values.end(), reinterpret_cast<T*>(bytes()));
}

template <class T>
std::span<const T> NdArray::values() const {
  check(dtype_of<T>() == dtype_, "an array of {} was taken for {}", spelled_name_of(dtype_),
        spelled_name_of(dtype_of<T>()));
  return {reinterpret_cast<const T*>(data_.get()), static_cast<size_t>(numel())};
}

}  // namespace egc
