// What every command knows: the common options, and where results go.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

namespace egc::cli {

struct CommonOptions {
  int threads = 0;  // 0: the cores that this process may use
  uint64_t seed = 0;
  bool quiet = false;
  bool json = false;  // JSON lines on stdout, nothing else
};

// One line per command of the table in main.cpp.
void add_bench_fusion(CLI::App& bench, const CommonOptions& common);
void add_bench_layer(CLI::App& bench, const CommonOptions& common);

}  // namespace egc::cli
