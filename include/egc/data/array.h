// Read-only values that a vector owns, or a mapped file. Copies share them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace egc::data {

template <class T>
class Array {
 public:
  Array() = default;
  Array(std::vector<T> values) {  // NOLINT: a vector is an array
    auto owner = std::make_shared<const std::vector<T>>(std::move(values));
    values_ = *owner;
    owner_ = std::move(owner);
  }
  Array(std::shared_ptr<const void> owner, std::span<const T> values)
      : owner_(std::move(owner)), values_(values) {}

  std::span<const T> span() const { return values_; }
  operator std::span<const T>() const { return values_; }  // NOLINT
  int64_t size() const { return static_cast<int64_t>(values_.size()); }
  bool empty() const { return values_.empty(); }
  size_t num_bytes() const { return values_.size_bytes(); }
  const T& operator[](int64_t k) const { return values_[static_cast<size_t>(k)]; }
  const T& back() const { return values_.back(); }
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }

 private:
  std::shared_ptr<const void> owner_;
  std::span<const T> values_;
};

// Row-major.
template <class T>
struct Matrix {
  Array<T> values;
  int64_t columns = 0;

  int64_t rows() const { return columns == 0 ? 0 : values.size() / columns; }
  bool empty() const { return values.empty(); }
  size_t num_bytes() const { return values.num_bytes(); }
  std::span<const T> row(int64_t i) const {
    return values.span().subspan(static_cast<size_t>(i * columns), static_cast<size_t>(columns));
  }
  const T& at(int64_t i, int64_t j) const { return values[i * columns + j]; }
};

}  // namespace egc::data
