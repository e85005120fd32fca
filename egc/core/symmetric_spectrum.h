// Eigenvalues and eigenvectors of small symmetric matrices: some 10 n^3 operations.
#pragma once

#include <cstdint>
#include <vector>

namespace egc {

struct Spectrum {
  std::vector<double> values;   // [n], rising
  std::vector<double> vectors;  // [n, n], a column each
};

// a: [n, n], symmetric.
Spectrum symmetric_spectrum(std::vector<double> a, int64_t n);

}  // namespace egc
