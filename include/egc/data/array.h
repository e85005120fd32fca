// Read-only arrays and matrices of datasets, in a vector or in a mapped file.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace egc::data {

// A read-only array. Copies share memory.
template <class T>
class Array {
 public:
  Array() = default;  // empty
  // Takes over a vector.
  Array(std::vector<T> values) {  // NOLINT: a vector is an array
    auto owner = std::make_shared<const std::vector<T>>(std::move(values));
    values_ = *owner;
    owner_ = std::move(owner);
  }
  // Values in memory that `owner` keeps alive.
  Array(std::shared_ptr<const void> owner, std::span<const T> values)
      : owner_(std::move(owner)), values_(values) {}

  std::span<const T> span() const { return values_; }  // the values
  // The values.
  operator std::span<const T>() const { return values_; }                // NOLINT
  int64_t size() const { return static_cast<int64_t>(values_.size()); }  // number of values
  bool empty() const { return values_.empty(); }                         // whether there are none
  size_t num_bytes() const { return values_.size_bytes(); }              // size in memory
  const T& operator[](int64_t k) const { return values_[static_cast<size_t>(k)]; }  // one value
  const T& back() const { return values_.back(); }  // the last value
  auto begin() const { return values_.begin(); }    // for range-based loops
  auto end() const { return values_.end(); }        // for range-based loops

 private:
  std::shared_ptr<const void> owner_;
  std::span<const T> values_;
};

// A read-only row-major matrix.
template <class T>
struct Matrix {
  Array<T> values;      // [rows * columns]
  int64_t columns = 0;  // number of columns

  int64_t rows() const { return columns == 0 ? 0 : values.size() / columns; }  // number of rows
  bool empty() const { return values.empty(); }            // whether it has no values
  size_t num_bytes() const { return values.num_bytes(); }  // size in memory
  // One row.
  std::span<const T> row(int64_t i) const {
    return values.span().subspan(static_cast<size_t>(i * columns), static_cast<size_t>(columns));
  }
  const T& at(int64_t i, int64_t j) const { return values[i * columns + j]; }  // one value
};

}  // namespace egc::data
