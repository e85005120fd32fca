#include "egc/graph/source_blocks.h"

#include <algorithm>
#include <atomic>
#include <limits>

#include "egc/core/parallel.h"
#include "egc/graph/row_split.h"

namespace egc {
namespace {

// Rows of kBlockedColumns floats: half a megabyte, a quarter to a half of what such
// caches hold. The rest is for accumulators and for the edges passing through.
constexpr int64_t kSourcesPerBlock = 2048;
constexpr int64_t kEdgesPerVisit = 8;

int64_t num_blocks(int64_t num_sources) {
  return (num_sources + kSourcesPerBlock - 1) / kSourcesPerBlock;
}

}  // namespace

bool is_dense(int64_t num_targets, int64_t num_sources, int64_t num_edges) {
  const int64_t blocks = num_blocks(num_sources);
  // Up to two blocks fit together.
  return blocks > 2 && num_edges / kEdgesPerVisit >= num_targets * blocks;
}

SourceBlocks cut_by_source(const CsrView& g) {
  SourceBlocks blocks;
  if (!is_dense(g.num_targets, g.num_sources, g.num_edges())) return blocks;
  blocks.count = num_blocks(g.num_sources);
  blocks.begin.resize((blocks.count + 1) * g.num_targets);
  const auto ranges = split_rows({g.offsets, static_cast<size_t>(g.num_targets) + 1}, 64);
  std::atomic<bool> fits{true};
  parallel_tasks(static_cast<int64_t>(ranges.size()), [&](int64_t task) {
    for (int64_t i = ranges[task].begin; i < ranges[task].end; ++i) {
      const int32_t* first = g.sources + g.offsets[i];
      const int32_t* last = g.sources + g.offsets[i + 1];
      if (last - first > std::numeric_limits<int32_t>::max() || !std::is_sorted(first, last)) {
        fits = false;
        return;
      }
      const int32_t* at = first;
      for (int64_t b = 0; b <= blocks.count; ++b) {
        at = std::lower_bound(at, last, b * kSourcesPerBlock);
        blocks.begin[b * g.num_targets + i] = static_cast<int32_t>(at - first);
      }
    }
  });
  return fits ? std::move(blocks) : SourceBlocks{};
}

}  // namespace egc
