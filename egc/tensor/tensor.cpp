#include "egc/tensor/tensor.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "egc/core/huge_buffer.h"
#include "egc/tensor/gradient.h"

namespace egc {
namespace {

template <class From, class To>
void convert(const Tensor& from, const Tensor& to) {
  std::copy_n(from.data<From>(), from.size(), to.data<To>());
}

std::string spell(int64_t rows, int64_t columns) {
  const auto number = [](int64_t n) { return n == kAnySize ? "N" : std::to_string(n); };
  return "[" + number(rows) + ", " + number(columns) + "]";
}

bool has_sizes(const Tensor& t, int64_t rows, int64_t columns) {
  return t.defined() && (rows == kAnySize || t.rows() == rows) &&
         (columns == kAnySize || t.columns() == columns);
}

}  // namespace

Tensor Tensor::empty(int64_t rows, int64_t columns, DType type) {
  if (type != DType::kF32 && type != DType::kF64)
    fail(ErrorKind::kUsage, "a tensor is of float32 or float64, not {}", spelled_name_of(type));
  int64_t bytes = 0;
  check(rows >= 0 && columns >= 0 && !__builtin_mul_overflow(rows, columns, &bytes) &&
            !__builtin_mul_overflow(bytes, static_cast<int64_t>(size_of(type)), &bytes),
        "a tensor cannot be [{}, {}]", rows, columns);
  Tensor out;
  std::shared_ptr<void> buffer = make_buffer(static_cast<size_t>(bytes));
  out.data_ = buffer.get();
  out.buffer_ = std::move(buffer);
  out.rows_ = rows;
  out.columns_ = columns;
  out.type_ = type;
  out.defined_ = true;
  return out;
}

Tensor Tensor::zeros(int64_t rows, int64_t columns, DType type) {
  Tensor out = empty(rows, columns, type);
  std::memset(out.data_, 0, out.num_bytes());
  return out;
}

Tensor Tensor::full(int64_t rows, int64_t columns, DType type, double value) {
  Tensor out = empty(rows, columns, type);
  out.fill(value);
  return out;
}

double Tensor::item(int64_t row, int64_t column) const {
  check(row >= 0 && row < rows_ && column >= 0 && column < columns_,
        "there is no element [{}, {}] in {}", row, column, describe(*this));
  return with_type(type_, [&](auto zero) {
    return static_cast<double>(data<decltype(zero)>()[row * columns_ + column]);
  });
}

void Tensor::fail_type(DType taken_for) const {
  fail(ErrorKind::kUsage, "a tensor of {} was taken for {}", spelled_name_of(type_),
       spelled_name_of(taken_for));
}

Tensor Tensor::clone() const {
  if (!defined_) return {};
  Tensor out = empty(rows_, columns_, type_);
  if (size() > 0) std::memcpy(out.data_, data_, num_bytes());
  return out;
}

Tensor Tensor::to(DType type) const {
  if (!defined_ || type == type_) return *this;
  Tensor out = empty(rows_, columns_, type);
  out.copy_from(*this);
  return out;
}

Tensor Tensor::reshaped(int64_t rows, int64_t columns) const {
  check(rows * columns == size(), "{} cannot be seen as [{}, {}]", describe(*this), rows, columns);
  Tensor out = detached();
  out.rows_ = rows;
  out.columns_ = columns;
  return out;
}

void Tensor::fill(double value) const {
  with_type(type_, [&](auto zero) {
    using T = decltype(zero);
    std::fill_n(data<T>(), size(), static_cast<T>(value));
  });
}

void Tensor::copy_from(const Tensor& other) const {
  check(other.defined() && other.rows() == rows_ && other.columns() == columns_,
        "{} cannot be copied to {}", describe(other), describe(*this));
  if (size() == 0) return;
  if (other.dtype() == type_)
    std::memcpy(data_, other.data_, num_bytes());
  else if (type_ == DType::kF64)
    convert<float, double>(other, *this);
  else
    convert<double, float>(other, *this);
}

Tensor Tensor::with_gradient() const {
  Tensor out = *this;
  out.gradient_ = std::make_shared<Gradient>();
  return out;
}

Tensor Tensor::with_gradient_in(const Tensor& memory) const {
  expect_matrix("gradient", "its memory", memory, rows_, columns_, type_);
  Tensor out = *this;
  out.gradient_ = std::make_shared<Gradient>(memory);
  return out;
}

Tensor Tensor::detached() const {
  Tensor out = *this;
  out.gradient_.reset();
  return out;
}

std::string describe(const Tensor& t) {
  if (!t.defined()) return "nothing";
  return fmt::format("[{}, {}] {}", t.rows(), t.columns(), spelled_name_of(t.dtype()));
}

void expect_matrix(const char* operation, const char* what, const Tensor& t, int64_t rows,
                   int64_t columns, DType type) {
  if (has_sizes(t, rows, columns) && t.dtype() == type) return;  // the sentence takes microseconds
  fail(ErrorKind::kUsage, "{}: {} must be {} {}, got {}", operation, what, spell(rows, columns),
       spelled_name_of(type), describe(t));
}

void expect_matrix(const char* operation, const char* what, const Tensor& t, int64_t rows,
                   int64_t columns) {
  if (has_sizes(t, rows, columns)) return;
  fail(ErrorKind::kUsage, "{}: {} must be {}, got {}", operation, what, spell(rows, columns),
       describe(t));
}

}  // namespace egc
