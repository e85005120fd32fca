#include "egc/tensor/nd_array.h"

#include <algorithm>
#include <cstring>

#include "egc/core/half.h"

namespace egc {
namespace {

int64_t product(const std::vector<int64_t>& shape) {
  int64_t out = 1;
  for (const int64_t extent : shape)
    check(extent >= 0 && !__builtin_mul_overflow(out, extent, &out), "an array cannot be {}",
          spell_shape(shape));
  return out;
}

// A byte of a file: any value but 0 is true, where a bool may be 0 or 1 only.
struct StoredBool {
  uint8_t value = 0;
};

// Calls f(T{}) with the C++ type that holds the values.
template <class F>
void with_storage(DType type, F&& f) {
  switch (type) {
    case DType::kF64:
      return f(double{});
    case DType::kF32:
      return f(float{});
    case DType::kF16:
      return f(Half{});
    case DType::kBF16:
      return f(BFloat16{});
    case DType::kI64:
      return f(int64_t{});
    case DType::kI32:
      return f(int32_t{});
    case DType::kI16:
      return f(int16_t{});
    case DType::kI8:
      return f(int8_t{});
    case DType::kU8:
      return f(uint8_t{});
    case DType::kBool:
      return f(StoredBool{});
  }
}

// Whole numbers keep all their digits on the way.
template <class T>
auto widened(T value) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    return static_cast<double>(to_float(value));
  else if constexpr (std::is_same_v<T, StoredBool>)
    return static_cast<int64_t>(value.value != 0);
  else if constexpr (std::is_integral_v<T>)
    return static_cast<int64_t>(value);
  else
    return static_cast<double>(value);
}

template <class To, class From>
To narrowed(From value) {
  if constexpr (std::is_same_v<To, Half>)
    return to_half(static_cast<float>(value));
  else if constexpr (std::is_same_v<To, StoredBool>)
    return StoredBool{static_cast<uint8_t>(value != 0)};
  else if constexpr (std::is_same_v<To, BFloat16>)
    return to_bfloat16(static_cast<float>(value));
  else
    return static_cast<To>(value);
}

}  // namespace

std::string spell_shape(const std::vector<int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

NdArray::NdArray(DType type, std::vector<int64_t> shape) : dtype_(type), shape_(std::move(shape)) {
  data_ = std::make_shared<std::byte[]>(
      std::max<size_t>(1, static_cast<size_t>(product(shape_)) * size_of(type)));
}

NdArray::NdArray(const TensorView& view) : NdArray(view.dtype, view.shape) {
  check(view.data.size() == num_bytes(), "{} bytes are no array {} of {}", view.data.size(),
        spell_shape(shape_), spelled_name_of(dtype_));
  if (!view.data.empty()) std::memcpy(bytes(), view.data.data(), view.data.size());
}

NdArray::NdArray(std::vector<int64_t> shape, const Tensor& tensor)
    : NdArray(tensor.dtype(), std::move(shape)) {
  check(numel() == tensor.size(), "{} cannot be {}", describe(tensor), spell_shape(shape_));
  if (tensor.size() > 0) std::memcpy(bytes(), tensor.raw(), num_bytes());
}

int64_t NdArray::numel() const { return product(shape_); }

int64_t NdArray::size(int64_t dimension) const {
  const int64_t d = dimension < 0 ? dimension + dim() : dimension;
  check(d >= 0 && d < dim(), "{} has no dimension {}", spell_shape(shape_), dimension);
  return shape_[static_cast<size_t>(d)];
}

double NdArray::item() const {
  check(numel() == 1, "one value was expected, got {}", spell_shape(shape_));
  return to(DType::kF64).values<double>()[0];
}

NdArray NdArray::to(DType type) const {
  if (type == dtype_) return *this;
  NdArray out(type, shape_);
  const int64_t n = numel();
  with_storage(dtype_, [&](auto from) {
    with_storage(type, [&](auto to) {
      const auto* source = reinterpret_cast<const decltype(from)*>(bytes());
      auto* target = reinterpret_cast<decltype(to)*>(out.bytes());
      for (int64_t k = 0; k < n; ++k) target[k] = narrowed<decltype(to)>(widened(source[k]));
    });
  });
  return out;
}

NdArray NdArray::reshaped(std::vector<int64_t> shape) const {
  int64_t known = 1;
  int64_t* open = nullptr;
  for (int64_t& extent : shape)
    if (extent == -1 && open == nullptr)
      open = &extent;
    else
      known *= extent;
  if (open != nullptr) *open = known == 0 ? 0 : numel() / known;
  check(product(shape) == numel(), "{} cannot be seen as {}", spell_shape(shape_),
        spell_shape(shape));
  NdArray out = *this;
  out.shape_ = std::move(shape);
  return out;
}

NdArray NdArray::swapped_inner() const {
  check(dim() >= 3, "three dimensions were expected, got {}", spell_shape(shape_));
  std::vector<int64_t> shape = shape_;
  std::swap(shape[1], shape[2]);
  NdArray out(dtype_, shape);
  const int64_t a = shape_[0], b = shape_[1], c = shape_[2];
  size_t element = size_of(dtype_);
  for (size_t d = 3; d < shape_.size(); ++d) element *= static_cast<size_t>(shape_[d]);
  const std::byte* from = bytes();
  for (int64_t i = 0; i < a; ++i)
    for (int64_t j = 0; j < b; ++j)
      for (int64_t k = 0; k < c; ++k, from += element)
        std::memcpy(out.bytes() + static_cast<size_t>((i * c + k) * b + j) * element, from,
                    element);
  return out;
}

NdArray NdArray::transposed() const {
  check(dim() == 2, "a matrix was expected, got {}", spell_shape(shape_));
  return reshaped({1, shape_[0], shape_[1]}).swapped_inner().reshaped({shape_[1], shape_[0]});
}

NdArray NdArray::rows(int64_t first, int64_t count) const {
  check(dim() >= 1 && first >= 0 && count >= 0 && first + count <= shape_[0],
        "{} has no rows {} to {}", spell_shape(shape_), first, first + count);
  std::vector<int64_t> shape = shape_;
  shape[0] = count;
  NdArray out(dtype_, shape);
  const size_t row = shape_[0] == 0 ? 0 : num_bytes() / static_cast<size_t>(shape_[0]);
  std::memcpy(out.bytes(), bytes() + static_cast<size_t>(first) * row,
              static_cast<size_t>(count) * row);
  return out;
}

NdArray NdArray::concat(const std::vector<NdArray>& parts) {
  check(!parts.empty(), "there is nothing to put together");
  std::vector<int64_t> shape = parts[0].shape_;
  check(!shape.empty(), "single values cannot be put one after the other");
  shape[0] = 0;
  for (const NdArray& p : parts) {
    check(p.dtype_ == parts[0].dtype_ && p.dim() == std::ssize(shape) &&
              std::equal(shape.begin() + 1, shape.end(), p.shape_.begin() + 1),
          "{} and {} cannot be put one after the other", spell_shape(parts[0].shape_),
          spell_shape(p.shape_));
    shape[0] += p.shape_[0];
  }
  NdArray out(parts[0].dtype_, shape);
  std::byte* to = out.bytes();
  for (const NdArray& p : parts) {
    std::memcpy(to, p.bytes(), p.num_bytes());
    to += p.num_bytes();
  }
  return out;
}

NdArray NdArray::stack(const std::vector<NdArray>& parts) {
  std::vector<NdArray> rows;
  for (const NdArray& p : parts) {
    std::vector<int64_t> shape = p.shape_;
    shape.insert(shape.begin(), 1);
    rows.push_back(p.reshaped(shape));
  }
  return concat(rows);
}

bool NdArray::equals(const NdArray& other) const {
  return dtype_ == other.dtype_ && shape_ == other.shape_ &&
         (num_bytes() == 0 || std::memcmp(bytes(), other.bytes(), num_bytes()) == 0);
}

Tensor NdArray::to_tensor(DType type) const {
  const int64_t columns = shape_.empty() ? 1 : shape_.back();
  int64_t rows = 1;
  for (size_t d = 0; d + 1 < shape_.size(); ++d) rows *= shape_[d];
  const Tensor out = Tensor::empty(rows, columns, type);
  const NdArray same = to(type);
  if (out.size() > 0) std::memcpy(out.raw(), same.bytes(), out.num_bytes());
  return out;
}

}  // namespace egc
