// A dataset in memory: graphs one after the other, their features, labels and splits. Read-only;
// copies share everything. Where it comes from: read_dataset.h, generators.h, the builders.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "egc/core/task.h"
#include "egc/data/array.h"
#include "egc/data/dataset_info.h"
#include "egc/graph/hetero_graph.h"

namespace egc::data {

// Of nodes or of edges; at most one of the two is there.
struct Features {
  Matrix<float> floats;
  Matrix<int32_t> categories;  // every value below that column's number of categories

  bool empty() const { return floats.empty() && categories.empty(); }
  int64_t columns() const { return floats.columns > 0 ? floats.columns : categories.columns; }
  int64_t rows() const { return floats.empty() ? categories.rows() : floats.rows(); }
  FeatureKind kind() const {
    if (!floats.empty()) return FeatureKind::kFloat;
    return categories.empty() ? FeatureKind::kNone : FeatureKind::kCategorical;
  }
};

// One line of text each, for instance the sub-tokens of a name, separated by blanks.
struct TextLines {
  Array<int64_t> first_byte;  // [lines + 1]
  Array<char> bytes;

  int64_t size() const { return first_byte.empty() ? 0 : first_byte.size() - 1; }
  std::string_view operator[](int64_t k) const {
    return {bytes.span().data() + first_byte[k],
            static_cast<size_t>(first_byte[k + 1] - first_byte[k])};
  }
};

// Of graphs or of nodes, as the task says; one of the three is there.
struct Labels {
  Matrix<float> values;    // regression and binary tasks; NaN: unlabelled
  Array<int32_t> classes;  // classification; -1: unlabelled
  TextLines tokens;        // sequences

  int64_t rows() const {
    if (!classes.empty()) return classes.size();
    return tokens.size() > 0 ? tokens.size() : values.rows();
  }
};

// Graph ids, or node ids for tasks on the nodes of one graph.
struct Split {
  std::string name;
  Array<int64_t> train;
  Array<int64_t> valid;  // may be empty, see cut_valid in splits.h
  Array<int64_t> test;
};

// A graph with several types of nodes or edges.
struct HeteroParts {
  HeteroSchema schema;  // as stored; the loader adds inverse relations
  std::vector<int64_t> num_nodes;
  std::vector<Matrix<int32_t>> edges;  // of each relation: [E, 2] source, target
  std::vector<Features> features;      // of each node type; empty: learned embeddings
  int64_t target_type = 0;             // the type that has labels

  // Of a part (dataset_part.h), where num_nodes are its own: those of the whole.
  std::vector<int64_t> nodes_of_graph;

  bool empty() const { return schema.node_types.empty(); }
  // Learned embeddings of a type; 0 where it has features, of which a part may have no rows.
  int64_t num_embeddings(size_t type) const {
    if (features[type].columns() > 0) return 0;
    return (nodes_of_graph.empty() ? num_nodes : nodes_of_graph)[type];
  }
};

// One graph of a dataset.
struct Sample {
  int64_t num_nodes = 0;
  int64_t first_node = 0;          // its first row in the dataset's node features
  int64_t first_edge = 0;          // and in its edges and edge features
  std::span<const int32_t> edges;  // [E, 2], ids within the graph
  int64_t num_edges() const { return static_cast<int64_t>(edges.size()) / 2; }
};

struct Dataset {
  DatasetInfo info;

  // Homogeneous graphs: graph k owns the nodes [first_node[k], first_node[k + 1]), edges likewise.
  Array<int64_t> first_node;
  Array<int64_t> first_edge;
  Matrix<int32_t> edges;  // [E, 2]: source, target, ids within their graph, as in the files
  Features node_features;
  Features edge_features;
  Array<uint8_t> node_is_attributed;  // code: which nodes carry a token, in depth-first order
  Matrix<float> node_targets;  // further targets of every node, where a dataset has both kinds

  HeteroParts hetero;  // instead of all that

  Labels labels;
  std::vector<Split> splits;

  std::string checksum_of_dataset;  // of a part (dataset_part.h): what it is a part of

  int64_t num_graphs() const { return first_node.empty() ? 1 : first_node.size() - 1; }
  int64_t num_nodes() const;
  int64_t num_edges() const;  // as stored, before inverses are added
  // What a split's ids count: graphs, or the nodes (of the target type) of the one graph.
  int64_t num_items() const;
  bool splits_nodes() const { return !is_graph_task(info.task) && num_graphs() == 1; }

  Sample sample(int64_t k) const;
  // Throws kUsage with the known names; an empty name gives the first.
  const Split& split(const std::string& name) const;
  // The bytes of all arrays.
  int64_t num_bytes() const;
};

// Throws kData unless sizes, ids, labels and splits agree with each other: what reading checks with
// file and line, checked again for datasets made in memory. `where` begins the message.
void check_dataset(const Dataset& dataset, const std::string& where);

// Calls f(name, array or matrix) for every array of the dataset: what the cache stores. `dataset`
// may be const or not.
template <class Data, class F>
void visit_arrays(Data& dataset, F&& f) {
  f("first_node", dataset.first_node);
  f("first_edge", dataset.first_edge);
  f("edges", dataset.edges);
  const auto features = [&](const std::string& name, auto& of) {
    f(name + ".floats", of.floats);
    f(name + ".categories", of.categories);
  };
  features("node_features", dataset.node_features);
  features("edge_features", dataset.edge_features);
  f("node_is_attributed", dataset.node_is_attributed);
  f("node_targets", dataset.node_targets);
  for (size_t t = 0; t < dataset.hetero.features.size(); ++t)
    features("hetero.features." + std::to_string(t), dataset.hetero.features[t]);
  for (size_t r = 0; r < dataset.hetero.edges.size(); ++r)
    f("hetero.edges." + std::to_string(r), dataset.hetero.edges[r]);
  f("labels.values", dataset.labels.values);
  f("labels.classes", dataset.labels.classes);
  f("labels.tokens.first_byte", dataset.labels.tokens.first_byte);
  f("labels.tokens.bytes", dataset.labels.tokens.bytes);
  for (size_t s = 0; s < dataset.splits.size(); ++s) {
    const std::string name = "split." + std::to_string(s);
    f(name + ".train", dataset.splits[s].train);
    f(name + ".valid", dataset.splits[s].valid);
    f(name + ".test", dataset.splits[s].test);
  }
}

}  // namespace egc::data
