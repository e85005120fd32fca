// Dense products beside LibTorch's, which are OpenBLAS's or MKL's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace egc::torch {

// Of every benchmark.
struct BenchOptions {
  bool json = false;
  uint64_t seed = 0;
  double scale = 1.0;
  int reps = 7;
};

// Forward products and both gradients of the weight shapes of all configurations in a folder.
void bench_gemm(const std::string& configs, const std::vector<int64_t>& all_rows,
                const BenchOptions& options);

}  // namespace egc::torch
