// NumPy's .npy files: one array of numbers, at most two dimensions.
#pragma once

#include <filesystem>

#include "egc/data/array.h"

namespace egc::data {

// T: float (from float16, float32 or float64) or int32_t (from any integer type or bool). A
// one-dimensional array has one column. What needs no conversion stays in the mapped file. Throws
// kData.
template <class T>
Matrix<T> read_npy(const std::filesystem::path& path);

// Whether the file holds floats (else integers).
bool npy_has_floats(const std::filesystem::path& path);

}  // namespace egc::data
