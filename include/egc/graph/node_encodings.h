// Encodings of nodes by their place in the graph, which networks read beside the features.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "egc/core/named_table.h"
#include "egc/core/progress.h"
#include "egc/graph/csr.h"

namespace egc {

// Return probabilities of random walks, eigenvectors of the Laplacian, or the degree.
enum class EncodingKind { kRandomWalk, kLaplacian, kDegree };
const NamedTable<EncodingKind>& encoding_kinds();  // names: rwse, laplacian, degree

// The largest number of columns of an encoding.
inline constexpr int64_t kMaxEncodingColumns = 256;
// The largest graph that has encodings by its Laplacian, whose eigenvectors are computed densely.
inline constexpr int64_t kMaxLaplacianNodes = 1000;

// An encoding.
struct NodeEncoding {
  EncodingKind kind = EncodingKind::kDegree;  // what it is
  int64_t columns = 1;                        // steps of the walk, eigenvectors, or 1

  bool operator==(const NodeEncoding&) const = default;  // compares all fields
};

// Parses "rwse:20", "laplacian:8" and "degree". Throws kUsage for others, for numbers out of range
// and for a kind that is named twice.
std::vector<NodeEncoding> parse_encodings(const std::vector<std::string>& names);
std::string spell(const NodeEncoding& encoding);  // the inverse: "rwse:20"
// Columns of several encodings side by side.
int64_t num_columns(std::span<const NodeEncoding> encodings);

// The chance that a random walk of k = 1 ... steps steps ends where it began: the diagonals of the
// powers of P, where P[i, j] is the share of the edges from j among the edges into i. Parallel
// edges and weights count. Rows without edges, or whose weights do not have a positive sum, are 0.
// Result: [N, steps]. The same bits for any number of threads.
std::vector<double> random_walk_returns(const Csr& graph, int64_t steps,
                                        const OnProgress& on_progress = {});

// Eigenvectors of the `count` smallest positive eigenvalues of I - D^-1/2 A D^-1/2, where A joins
// nodes that have an edge in either direction, once, without self-loops; an isolated node has a row
// of zeros there. Result: [N, count], a unit vector per column, rising by eigenvalue; zeros where
// the graph has fewer. The first entry of (almost) the largest magnitude is positive. Throws kUsage
// above kMaxLaplacianNodes.
std::vector<double> laplacian_vectors(const Csr& graph, int64_t count);

// log(1 + in-degree), or of the sum of the in-edges' weights. The logarithm, because degrees of
// hubs are larger by orders of magnitude. Result: [N, 1].
std::vector<double> log_degrees(const Csr& graph);

// Any of the above. Result: [N, encoding.columns].
std::vector<double> encode_nodes(const Csr& graph, const NodeEncoding& encoding,
                                 const OnProgress& on_progress = {});

}  // namespace egc
