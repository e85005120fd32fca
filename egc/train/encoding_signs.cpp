#include "egc/train/encoding_signs.h"

#include <utility>

#include "egc/core/error.h"
#include "egc/core/rng.h"
#include "egc/graph/node_encodings.h"

namespace egc::train {
namespace {

// The first and the last column of the eigenvectors among all encodings.
std::pair<int64_t, int64_t> laplacian_columns(const std::vector<NodeEncoding>& encodings) {
  int64_t first = 0;
  for (const NodeEncoding& e : encodings) {
    if (e.kind == EncodingKind::kLaplacian) return {first, first + e.columns};
    first += e.columns;
  }
  return {0, 0};
}

}  // namespace

void draw_signs(inference::BatchTensors& batch, const std::vector<std::string>& encode,
                uint64_t seed, int64_t epoch) {
  const auto [first, end] = laplacian_columns(parse_encodings(encode));
  models::ModelInput& in = batch.input;
  if (first == end || !in.encodings.defined()) return;
  check(in.encodings.columns() >= end, "training: encodings have {} columns, expected {}",
        in.encodings.columns(), end);
  constexpr uint64_t kStream = 0x51C2;
  constexpr int64_t kBits = 32;
  constexpr uint64_t kWords = kMaxEncodingColumns / kBits;  // of a graph
  const Rng rng(seed, (static_cast<uint64_t>(epoch) << 16) + kStream);
  std::vector<int64_t> bounds = in.first_node;  // one large graph comes without
  if (batch.ids.empty()) bounds = {0, in.encodings.rows()};
  const Tensor turned = in.encodings.clone();  // the batch may be kept for the next epoch
  const int64_t columns = turned.columns();
  for (size_t g = 0; g + 1 < bounds.size(); ++g) {
    const auto graph = static_cast<uint64_t>(batch.ids.empty() ? 0 : batch.ids[g]);
    for (int64_t c = first; c < end; ++c) {
      const uint32_t word = rng.word(graph * kWords + static_cast<uint64_t>((c - first) / kBits));
      if ((word >> ((c - first) % kBits) & 1) == 0) continue;
      for (int64_t i = bounds[g]; i < bounds[g + 1]; ++i) {
        float& value = turned.data<float>()[i * columns + c];
        value = -value;
      }
    }
  }
  in.encodings = turned;
}

}  // namespace egc::train
