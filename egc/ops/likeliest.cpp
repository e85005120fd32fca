#include "egc/ops/likeliest.h"

#include <algorithm>
#include <cmath>

#include "egc/core/parallel.h"
#include "egc/graph/row_split.h"

namespace egc::ops {
namespace {

// Vocabularies have thousands of words: blocks of lanes that compilers turn into vectors.
constexpr int64_t kLanes = 32;

float greatest_or_nan(const float* x, int64_t n) {
  float lanes[kLanes];
  bool nan[kLanes] = {};
  std::fill_n(lanes, kLanes, x[0]);
  int64_t k = 0;
  for (; k + kLanes <= n; k += kLanes)
    for (int64_t l = 0; l < kLanes; ++l) {
      nan[l] |= x[k + l] != x[k + l];
      lanes[l] = x[k + l] > lanes[l] ? x[k + l] : lanes[l];
    }
  for (; k < n; ++k) {
    nan[0] |= x[k] != x[k];
    lanes[0] = x[k] > lanes[0] ? x[k] : lanes[0];
  }
  if (std::find(nan, nan + kLanes, true) != nan + kLanes) return std::nanf("");
  return *std::max_element(lanes, lanes + kLanes);
}

}  // namespace

int64_t likeliest(const float* scores, int64_t classes) {
  const float greatest = greatest_or_nan(scores, classes);
  const auto is_it = [&](float x) { return std::isnan(greatest) ? std::isnan(x) : x == greatest; };
  return std::find_if(scores, scores + classes, is_it) - scores;
}

void append_likeliest(std::vector<int64_t>& to, const Tensor& scores, int64_t classes) {
  const float* x = scores.data<float>();
  const int64_t rows = scores.size() / classes;
  const auto first = to.insert(to.end(), static_cast<size_t>(rows), 0);
  const auto blocks = split_evenly(rows, std::max<int64_t>(1, (int64_t{1} << 16) / classes));
  parallel_tasks(std::ssize(blocks), [&](int64_t b) {
    for (int64_t i = blocks[b].begin; i < blocks[b].end; ++i)
      first[i] = likeliest(x + i * classes, classes);
  });
}

}  // namespace egc::ops
