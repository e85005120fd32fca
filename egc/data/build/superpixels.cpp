#include "egc/data/build/superpixels.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "egc/core/error.h"
#include "egc/core/parallel.h"
#include "egc/data/formats/text_blocks.h"

namespace egc::data {

void append_superpixel_edges(std::span<const float> coordinates, std::vector<int32_t>& edges) {
  const auto n = static_cast<int32_t>(coordinates.size() / 2);
  const auto k = static_cast<int32_t>(std::min<int64_t>(kSuperpixelNeighbours, n - 1));
  if (k <= 0) return;
  const auto size = static_cast<size_t>(n);
  std::vector<double> squared(size * size);  // distances
  std::vector<double> sigma(size);
  std::vector<double> kth(size);  // squared distance of the k-th neighbour
  std::vector<double> row(size);
  for (size_t i = 0; i < size; ++i) {
    double* const of_i = squared.data() + i * size;
    for (size_t j = 0; j < size; ++j) {
      const double dy = double{coordinates[2 * i]} - coordinates[2 * j];
      const double dx = double{coordinates[2 * i + 1]} - coordinates[2 * j + 1];
      of_i[j] = dy * dy + dx * dx;
    }
    row.assign(of_i, of_i + size);
    // Sorted, so that equal neighbourhoods give equal sums, to the bit: ties are frequent.
    std::partial_sort(row.begin(), row.begin() + k + 1, row.end());
    kth[i] = row[k];
    double sum = 0;
    for (int32_t r = 0; r <= k; ++r) sum += std::sqrt(row[r]);
    sigma[i] = sum / k + 1e-8;
  }
  const double widest = *std::max_element(sigma.begin(), sigma.end());
  const auto closeness = [&](size_t i, size_t j) {
    const double d = std::sqrt(squared[i * size + j]);
    const double a = d / sigma[i];
    const double b = d / sigma[j];
    return (std::exp(-a * a) + std::exp(-b * b)) / 2;
  };
  std::vector<std::pair<double, int32_t>> nearest;  // minus the closeness, so that less is nearer
  for (size_t i = 0; i < size; ++i) {
    const double* const of_i = squared.data() + i * size;
    // The k nearest by distance are at least this close, and nobody is closer than
    // exp(-d^2 / widest^2): who is too far for that need not be looked at.
    double bound = 1;
    for (size_t j = 0; j < size; ++j)
      if (j != i && of_i[j] <= kth[i]) bound = std::min(bound, closeness(i, j));
    const double reach = -std::log(bound) * widest * widest * (1 + 1e-9);
    nearest.clear();
    for (size_t j = 0; j < size; ++j)
      if (j != i && !(of_i[j] > reach))
        nearest.emplace_back(-closeness(i, j), static_cast<int32_t>(j));
    std::partial_sort(nearest.begin(), nearest.begin() + k, nearest.end());
    for (int32_t r = 0; r < k; ++r) {
      edges.push_back(static_cast<int32_t>(i));
      edges.push_back(nearest[r].second);
    }
  }
}

Matrix<float> read_superpixel_bytes(const std::filesystem::path& path, int64_t nodes) {
  constexpr int64_t kColumns = 5;
  constexpr float kImage = 32;
  const std::string bytes = read_text(path, static_cast<size_t>(nodes * kColumns));
  check_data(static_cast<int64_t>(bytes.size()) == nodes * kColumns,
             "{}: expected {} bytes, {} for each of the {} nodes, found {}", path.string(),
             nodes * kColumns, kColumns, nodes, bytes.size());
  std::vector<float> values(bytes.size());
  for (size_t k = 0; k < values.size(); ++k) {
    const auto byte = static_cast<float>(static_cast<unsigned char>(bytes[k]));
    values[k] = k % kColumns < 3 ? byte / 255 : byte / 8 / kImage;
  }
  return {Array<float>(std::move(values)), kColumns};
}

void derive_superpixel_edges(Dataset& dataset) {
  const Matrix<float>& x = dataset.node_features.floats;
  const int64_t graphs = dataset.num_graphs();
  std::vector<int64_t> first_edge = {0};
  for (int64_t k = 0; k < graphs; ++k) {
    const int64_t n = dataset.first_node[k + 1] - dataset.first_node[k];
    // All pairs are looked at; the images have at most 150.
    constexpr int64_t kMax = 500;
    check_data(n <= kMax, "graph {} has {} superpixels, more than {}", k, n, kMax);
    first_edge.push_back(first_edge.back() +
                         n * std::max<int64_t>(0, std::min(kSuperpixelNeighbours, n - 1)));
  }
  std::vector<int32_t> edges(static_cast<size_t>(2 * first_edge.back()));
  constexpr int64_t kGraphsPerTask = 256;
  parallel_tasks((graphs + kGraphsPerTask - 1) / kGraphsPerTask, [&](int64_t task) {
    std::vector<float> coordinates;
    std::vector<int32_t> of_graph;
    const int64_t end = std::min(graphs, (task + 1) * kGraphsPerTask);
    for (int64_t k = task * kGraphsPerTask; k < end; ++k) {
      coordinates.clear();
      for (int64_t i = dataset.first_node[k]; i < dataset.first_node[k + 1]; ++i)
        coordinates.insert(coordinates.end(), {x.at(i, 3), x.at(i, 4)});
      of_graph.clear();
      append_superpixel_edges(coordinates, of_graph);
      std::copy(of_graph.begin(), of_graph.end(), edges.begin() + 2 * first_edge[k]);
    }
  });
  dataset.first_edge = std::move(first_edge);
  dataset.edges = {Array<int32_t>(std::move(edges)), 2};
}

}  // namespace egc::data
