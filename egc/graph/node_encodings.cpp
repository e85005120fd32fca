#include "egc/graph/node_encodings.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "egc/core/error.h"

namespace egc {
namespace {

NodeEncoding parse_encoding(const std::string& name) {
  const size_t colon = std::min(name.find(':'), name.size());
  NodeEncoding out{encoding_kinds().at(name.substr(0, colon)), 1};
  const std::string_view kind = encoding_kinds().name_of(out.kind);
  if (out.kind == EncodingKind::kDegree) {
    check(colon == name.size(), "encode takes \"{}\" without a number, got \"{}\"", kind, name);
    return out;
  }
  const char* begin = name.data() + std::min(colon + 1, name.size());
  const char* end = name.data() + name.size();
  const auto [last, error] = std::from_chars(begin, end, out.columns);
  check(
      error == std::errc() && last == end && out.columns >= 1 && out.columns <= kMaxEncodingColumns,
      "encode takes \"{}:K\" with a number K from 1 to {}, got \"{}\"", kind, kMaxEncodingColumns,
      name);
  return out;
}

}  // namespace

const NamedTable<EncodingKind>& encoding_kinds() {
  static const NamedTable<EncodingKind> table("encoding", {{"rwse", EncodingKind::kRandomWalk},
                                                           {"laplacian", EncodingKind::kLaplacian},
                                                           {"degree", EncodingKind::kDegree}});
  return table;
}

std::vector<NodeEncoding> parse_encodings(const std::vector<std::string>& names) {
  std::vector<NodeEncoding> out;
  for (const std::string& name : names) {
    const NodeEncoding encoding = parse_encoding(name);
    for (const NodeEncoding& other : out)
      check(other.kind != encoding.kind, "encode names {} twice: \"{}\" and \"{}\"",
            encoding_kinds().name_of(encoding.kind), spell(other), name);
    out.push_back(encoding);
  }
  return out;
}

std::string spell(const NodeEncoding& encoding) {
  const std::string name(encoding_kinds().name_of(encoding.kind));
  return encoding.kind == EncodingKind::kDegree ? name
                                                : fmt::format("{}:{}", name, encoding.columns);
}

int64_t num_columns(std::span<const NodeEncoding> encodings) {
  int64_t out = 0;
  for (const NodeEncoding& e : encodings) out += e.columns;
  return out;
}

std::vector<double> log_degrees(const Csr& graph) {
  check(graph.is_square(), "node encodings need a graph among the same nodes");
  std::vector<double> out = graph.source_degrees(/*add_loops=*/false);
  for (double& degree : out) degree = std::log1p(std::max(0.0, degree));
  return out;
}

std::vector<double> encode_nodes(const Csr& graph, const NodeEncoding& encoding,
                                 const OnProgress& on_progress) {
  switch (encoding.kind) {
    case EncodingKind::kRandomWalk:
      return random_walk_returns(graph, encoding.columns, on_progress);
    case EncodingKind::kLaplacian:
      return laplacian_vectors(graph, encoding.columns);
    case EncodingKind::kDegree:
      return log_degrees(graph);
  }
  return {};
}

}  // namespace egc
