// Element types of tensors in memory and in files.
#pragma once

#include <cstddef>
#include <string_view>
#include <type_traits>

namespace egc {

// Element type. Tensor is kF32 or kF64; NdArray and safetensors files may have any of them.
enum class DType { kF64, kF32, kF16, kBF16, kI64, kI32, kI16, kI8, kU8, kBool };
size_t size_of(DType type);            // bytes of an element
std::string_view name_of(DType type);  // as in safetensors files: F32

// The name as PyTorch spells it, for messages: float32.
std::string_view spelled_name_of(DType type);

// The DType of a C++ type: float, double, int, 64-bit integers, or a byte.
template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, float>) return DType::kF32;
  if constexpr (std::is_same_v<T, double>) return DType::kF64;
  if constexpr (std::is_same_v<T, long> || std::is_same_v<T, long long>) return DType::kI64;
  if constexpr (std::is_same_v<T, int>) return DType::kI32;
  if constexpr (std::is_same_v<T, unsigned char> || std::is_same_v<T, char>) return DType::kU8;
}

}  // namespace egc
