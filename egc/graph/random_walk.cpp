// Return probabilities of random walks, exactly, for graphs of any size: P^(a+b)[i, i] is the
// product of row i of P^a with column i of P^b, so walks of k steps see k/2 steps of the graph.
#include <algorithm>
#include <utility>
#include <vector>

#include "egc/core/error.h"
#include "egc/core/parallel.h"
#include "egc/graph/node_encodings.h"

namespace egc {
namespace {

// A vector over the nodes that knows where it is not 0.
class SparseVector {
 public:
  explicit SparseVector(int64_t size)
      : values_(static_cast<size_t>(size), 0.0), is_listed_(static_cast<size_t>(size), 0) {}

  void add(int32_t node, double value) {
    if (is_listed_[node] == 0) {
      is_listed_[node] = 1;
      nodes_.push_back(node);
    }
    values_[node] += value;
  }
  void clear() {
    for (const int32_t node : nodes_) {
      values_[node] = 0;
      is_listed_[node] = 0;
    }
    nodes_.clear();
  }
  double operator[](int32_t node) const { return values_[node]; }
  const std::vector<int32_t>& nodes() const { return nodes_; }  // in the order of discovery

 private:
  std::vector<double> values_;
  std::vector<uint8_t> is_listed_;
  std::vector<int32_t> nodes_;
};

double dot(const SparseVector& a, const SparseVector& b) {
  double sum = 0;
  for (const int32_t node : a.nodes()) sum += a[node] * b[node];
  return sum;
}

// The walks of a graph. What threads share is computed before they start.
struct Walks {
  explicit Walks(const Csr& g) : graph(g), inverse_degree(g.source_degrees(/*add_loops=*/false)) {
    for (double& d : inverse_degree) d = d > 0 ? 1 / d : 0;
    // With P = A/D and A symmetric, columns of P^b are its rows, scaled.
    reversible = g.weights().empty() && &g.transposed() == &g;
  }

  // to = from P, a row: what a node has is shared among the sources of its edges.
  void advance_row(const SparseVector& from, SparseVector& to) const {
    to.clear();
    for (const int32_t node : from.nodes())
      push(graph, node, from[node] * inverse_degree[node],
           [&](int32_t source, double value) { to.add(source, value); });
  }
  // to = P from, a column.
  void advance_column(const SparseVector& from, SparseVector& to) const {
    to.clear();
    for (const int32_t node : from.nodes())
      push(graph.transposed(), node, from[node],
           [&](int32_t target, double value) { to.add(target, value * inverse_degree[target]); });
  }
  // The column of `start` from its row, where the walk is reversible.
  void row_to_column(int32_t start, const SparseVector& row, SparseVector& column) const {
    column.clear();
    for (const int32_t node : row.nodes())
      column.add(node, row[node] * inverse_degree[node] / inverse_degree[start]);
  }

  Csr graph;
  std::vector<double> inverse_degree;  // of rows; 0 where a walk ends
  bool reversible = false;

 private:
  template <class Add>
  static void push(const Csr& edges, int32_t row, double value, Add&& add) {
    if (value == 0) return;
    const auto sources = edges.sources();
    const auto weights = edges.weights();
    for (int64_t e = edges.offsets()[row]; e < edges.offsets()[row + 1]; ++e)
      add(sources[e], weights.empty() ? value : value * weights[e]);
  }
};

struct WalkScratch {
  explicit WalkScratch(int64_t nodes) : row(nodes), column(nodes), next(nodes) {}
  SparseVector row, column, next;
};

// out: [steps]
void returns_of(const Walks& walks, int32_t start, int64_t steps, WalkScratch& scratch,
                double* out) {
  if (walks.inverse_degree[start] == 0) return;  // a walk that ends at once
  scratch.row.clear();
  scratch.column.clear();
  scratch.row.add(start, 1);
  scratch.column.add(start, 1);
  for (int64_t step = 0; step < steps; ++step) {
    const bool is_row = step % 2 == 0;
    if (is_row) {
      walks.advance_row(scratch.row, scratch.next);
      std::swap(scratch.row, scratch.next);
    } else if (walks.reversible) {
      walks.row_to_column(start, scratch.row, scratch.column);
    } else {
      walks.advance_column(scratch.column, scratch.next);
      std::swap(scratch.column, scratch.next);
    }
    out[step] = dot(scratch.row, scratch.column);
  }
}

}  // namespace

std::vector<double> random_walk_returns(const Csr& graph, int64_t steps,
                                        const OnProgress& on_progress) {
  check(graph.is_square(), "node encodings need a graph among the same nodes");
  check(steps >= 1, "random walks need at least one step, got {}", steps);
  const int64_t nodes = graph.num_targets();
  std::vector<double> out(static_cast<size_t>(nodes * steps), 0.0);
  const Walks walks(graph);
  // Every task has vectors of its own: enough nodes each that these do not matter.
  constexpr int64_t kMostTasks = 256;
  constexpr int64_t kLeastNodes = 64;
  const int64_t each = std::max(kLeastNodes, (nodes + kMostTasks - 1) / kMostTasks);
  ProgressCounter counter(on_progress, nodes);
  parallel_tasks((nodes + each - 1) / each, [&](int64_t task) {
    WalkScratch scratch(nodes);
    const int64_t end = std::min(nodes, (task + 1) * each);
    for (int64_t i = task * each; i < end; ++i)
      returns_of(walks, static_cast<int32_t>(i), steps, scratch, out.data() + i * steps);
    counter.add(end - task * each);
  });
  return out;
}

}  // namespace egc
