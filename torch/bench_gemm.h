// Dense products beside LibTorch's, which are OpenBLAS's or MKL's.
#pragma once

#include <cstdint>
#include <string>

namespace egc::torch {

// Of every benchmark.
struct BenchOptions {
  bool json = false;
  uint64_t seed = 0;
  double scale = 1.0;
  int reps = 7;
};

// The products of a training step, forward and gradients, of all configurations in a folder.
void bench_gemm(const std::string& configs, const BenchOptions& options);

}  // namespace egc::torch
