// Values of a file or of a network's state: any shape, any type, contiguous. Copies share memory,
// which is never changed.
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

class NdArray {
 public:
  NdArray() = default;
  // Copies.
  explicit NdArray(const TensorView& view);
  template <class T>
  NdArray(std::vector<int64_t> shape, std::span<const T> values);
  // The tensor's values under another shape.
  NdArray(std::vector<int64_t> shape, const Tensor& tensor);

  DType dtype() const { return dtype_; }
  const std::vector<int64_t>& shape() const { return shape_; }
  int64_t dim() const { return std::ssize(shape_); }
  int64_t size(int64_t dimension) const;  // negative: from the end
  int64_t numel() const;
  TensorView view() const { return {dtype_, shape_, {data_.get(), num_bytes()}}; }
  size_t num_bytes() const { return static_cast<size_t>(numel()) * size_of(dtype_); }

  // Throws unless T is the type of the values.
  template <class T>
  std::span<const T> values() const;
  double item() const;  // of the only value

  NdArray to(DType type) const;
  NdArray reshaped(std::vector<int64_t> shape) const;  // one extent may be -1
  NdArray transposed() const;                          // of a matrix
  NdArray rows(int64_t first, int64_t count) const;    // along the first dimension
  // Dimension 1 and 2 of three or more exchanged.
  NdArray swapped_inner() const;
  static NdArray concat(const std::vector<NdArray>& parts);  // along the first dimension
  static NdArray stack(const std::vector<NdArray>& parts);   // along a new first dimension
  bool equals(const NdArray& other) const;                   // type, shape and bits

  // As a matrix of float32 or float64: all dimensions but the last are rows.
  Tensor to_tensor(DType type) const;

 private:
  NdArray(DType type, std::vector<int64_t> shape);
  std::byte* bytes() const { return data_.get(); }

  DType dtype_ = DType::kF32;
  std::vector<int64_t> shape_ = {0};
  std::shared_ptr<std::byte[]> data_;
};

// "[3, 4]"
std::string spell_shape(const std::vector<int64_t>& shape);

// Parameters and buffers by name.
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
