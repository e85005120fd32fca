// The matrix that layers compute on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "egc/core/dtype.h"
#include "egc/core/error.h"

namespace egc {

class Gradient;

// A dense row-major matrix [rows, columns] of float32 or float64. Copies share memory.
//
// There are no strides, no broadcasting and no other ranks; a vector of C values is [1, C]. Values
// may be written through data().
class Tensor {
 public:
  Tensor() = default;  // undefined: no matrix

  // A matrix with uninitialized values.
  static Tensor empty(int64_t rows, int64_t columns, DType type);
  // A matrix of zeros.
  static Tensor zeros(int64_t rows, int64_t columns, DType type);
  // A matrix with all elements equal to `value`.
  static Tensor full(int64_t rows, int64_t columns, DType type, double value);
  // A matrix in memory that `owner` keeps alive, or the caller where it is null. Operators only
  // read it; who owns the memory may write through data().
  template <class T>
  static Tensor borrow(const T* data, int64_t rows, int64_t columns,
                       std::shared_ptr<const void> owner);

  bool defined() const { return defined_; }          // false for a default-constructed tensor
  int64_t rows() const { return rows_; }             // number of rows
  int64_t columns() const { return columns_; }       // number of columns
  int64_t size() const { return rows_ * columns_; }  // number of elements
  DType dtype() const { return type_; }              // kF32 or kF64
  // Size in memory.
  size_t num_bytes() const { return static_cast<size_t>(size()) * size_of(type_); }

  // The values. Throws kUsage unless T is their type.
  template <class T>
  T* data() const;
  void* raw() const { return data_; }              // the values, without a type check
  double item(int64_t row, int64_t column) const;  // one element

  Tensor clone() const;         // a copy with its own memory
  Tensor to(DType type) const;  // converted; shares memory if the type is the same
  // The same values as another matrix of the same size; shares memory.
  Tensor reshaped(int64_t rows, int64_t columns) const;
  void fill(double value) const;  // sets all elements
  // Copies the values of a tensor of the same shape; converts types.
  void copy_from(const Tensor& other) const;

  // The gradient with respect to this tensor; null for constants. Like PyTorch's requires_grad.
  const std::shared_ptr<Gradient>& gradient() const { return gradient_; }
  // The same values with a gradient of their own: a leaf.
  Tensor with_gradient() const;
  // As above; the gradient is written to a matrix of the same shape.
  Tensor with_gradient_in(const Tensor& memory) const;
  // The same values as a constant.
  Tensor detached() const;

  // Whether no other tensor shares the memory, so it may be overwritten; false if borrowed.
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

// Shape and type for messages: "[3, 4] float32".
std::string describe(const Tensor& t);

// Calls f(float{}) or f(double{}), by the type.
template <class F>
decltype(auto) with_type(DType type, F&& f) {
  return type == DType::kF64 ? f(double{}) : f(float{});
}

// In expect_matrix(): any number of rows or columns.
inline constexpr int64_t kAnySize = -1;
// Throws kUsage unless the tensor has the shape and type: "linear: x must be [5, 3] float32, got
// [5, 4] float32".
void expect_matrix(const char* operation, const char* what, const Tensor& t, int64_t rows,
                   int64_t columns, DType type);
// As above, with either float32 or float64.
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
