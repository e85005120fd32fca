// A dense row-major matrix of float32 or float64 on a pooled buffer. Copies share the buffer.
//
// There are no strides, no broadcasting and no other ranks: what layers compute with are matrices
// [rows, columns]; a vector of C values is [1, C].
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "egc/core/dtype.h"
#include "egc/core/error.h"

namespace egc {

class Gradient;

class Tensor {
 public:
  Tensor() = default;  // undefined: no matrix

  // Uninitialised.
  static Tensor empty(int64_t rows, int64_t columns, DType type);
  static Tensor zeros(int64_t rows, int64_t columns, DType type);
  static Tensor full(int64_t rows, int64_t columns, DType type, double value);
  // Memory of somebody else, which `owner` keeps alive. It is read only.
  template <class T>
  static Tensor borrow(const T* data, int64_t rows, int64_t columns,
                       std::shared_ptr<const void> owner);

  bool defined() const { return defined_; }
  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  int64_t size() const { return rows_ * columns_; }
  DType dtype() const { return type_; }
  size_t num_bytes() const { return static_cast<size_t>(size()) * size_of(type_); }

  // Throws unless T is the type of the values.
  template <class T>
  T* data() const;
  void* raw() const { return data_; }
  double item(int64_t row, int64_t column) const;

  Tensor clone() const;
  Tensor to(DType type) const;  // itself where the type is the same
  // The same values as another matrix of as many.
  Tensor reshaped(int64_t rows, int64_t columns) const;
  void fill(double value) const;
  void copy_from(const Tensor& other) const;  // same shape; types are converted

  // Where the gradient with respect to this tensor is gathered; null for constants.
  const std::shared_ptr<Gradient>& gradient() const { return gradient_; }
  // The same values with a gradient of their own.
  Tensor with_gradient() const;
  Tensor detached() const;

  // Whether nobody else holds the buffer: it may be written to. What was borrowed never may.
  bool is_sole_owner() const { return !borrowed_ && buffer_.use_count() == 1; }

 private:
  [[noreturn]] void fail_type(DType taken_for) const;

  std::shared_ptr<const void> buffer_;
  void* data_ = nullptr;
  int64_t rows_ = 0;
  int64_t columns_ = 0;
  DType type_ = DType::kF32;
  bool defined_ = false;
  bool borrowed_ = false;
  std::shared_ptr<Gradient> gradient_;
};

// "[3, 4] float32", for messages.
std::string describe(const Tensor& t);

// Calls f(float{}) or f(double{}).
template <class F>
decltype(auto) with_type(DType type, F&& f) {
  return type == DType::kF64 ? f(double{}) : f(float{});
}

inline constexpr int64_t kAnySize = -1;
// Throws "linear: x must be [5, 3] float32, got [5, 4] float32" unless the tensor is such a matrix.
void expect_matrix(const char* operation, const char* what, const Tensor& t, int64_t rows,
                   int64_t columns, DType type);
// Of float32 or float64.
void expect_matrix(const char* operation, const char* what, const Tensor& t,
                   int64_t rows = kAnySize, int64_t columns = kAnySize);

template <class T>
T* Tensor::data() const {
  if (defined_ && dtype_of<T>() != type_) [[unlikely]]
    fail_type(dtype_of<T>());
  return static_cast<T*>(data_);
}

template <class T>
Tensor Tensor::borrow(const T* data, int64_t rows, int64_t columns,
                      std::shared_ptr<const void> owner) {
  Tensor out;
  out.buffer_ = std::move(owner);
  out.data_ = const_cast<T*>(data);
  out.rows_ = rows;
  out.columns_ = columns;
  out.type_ = dtype_of<T>();
  out.defined_ = true;
  out.borrowed_ = true;
  return out;
}

}  // namespace egc
