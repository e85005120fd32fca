// Datasets in memory: graphs with features, labels and splits. They come from read_dataset(), from
// generators, or from the builders of data/build, molecules and images.
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

// Features of nodes or edges; at most one of the matrices is set.
struct Features {
  Matrix<float> floats;        // [rows, columns]
  Matrix<int32_t> categories;  // [rows, columns], below the column's number of categories

  // Whether there are no features.
  bool empty() const { return floats.empty() && categories.empty(); }
  // Number of features.
  int64_t columns() const { return floats.columns > 0 ? floats.columns : categories.columns; }
  // Number of nodes or edges.
  int64_t rows() const { return floats.empty() ? categories.rows() : floats.rows(); }
  // Float, categorical or none.
  FeatureKind kind() const {
    if (!floats.empty()) return FeatureKind::kFloat;
    return categories.empty() ? FeatureKind::kNone : FeatureKind::kCategorical;
  }
};

// Lines of text, for instance the blank-separated words of a name.
struct TextLines {
  Array<int64_t> first_byte;  // [lines + 1]
  Array<char> bytes;          // all lines one after the other

  // Number of lines.
  int64_t size() const { return first_byte.empty() ? 0 : first_byte.size() - 1; }
  // One line.
  std::string_view operator[](int64_t k) const {
    return {bytes.span().data() + first_byte[k],
            static_cast<size_t>(first_byte[k + 1] - first_byte[k])};
  }
};

// Labels of graphs or nodes, depending on the task; one of the three is set.
struct Labels {
  Matrix<float> values;    // regression and binary tasks: [items, targets]; NaN: no label
  Array<int32_t> classes;  // classification: [items]; -1: no label
  TextLines tokens;        // sequence tasks: a line per graph

  // Number of items.
  int64_t rows() const {
    if (!classes.empty()) return classes.size();
    return tokens.size() > 0 ? tokens.size() : values.rows();
  }
};

// A division into training, validation and test set: graph ids, or node ids if the dataset is one
// graph.
struct Split {
  std::string name;      // unique within the dataset
  Array<int64_t> train;  // training set
  Array<int64_t> valid;  // validation set; may be empty (see cut_valid())
  Array<int64_t> test;   // test set
};

// The contents of a heterogeneous dataset.
struct HeteroParts {
  HeteroSchema schema;                 // as stored; training_schema() adds inverse relations
  std::vector<int64_t> num_nodes;      // of each type
  std::vector<Matrix<int32_t>> edges;  // of each relation: [E, 2] source, target
  std::vector<Features> features;      // of each node type; empty: learned embeddings
  int64_t target_type = 0;             // node type that has labels

  // In a partition: nodes of each type in the complete graph.
  std::vector<int64_t> nodes_of_graph;

  // Whether the dataset is not heterogeneous.
  bool empty() const { return schema.node_types.empty(); }
  // Learned embeddings of a node type; 0 if it has features.
  int64_t num_embeddings(size_t type) const {
    if (features[type].columns() > 0) return 0;
    return (nodes_of_graph.empty() ? num_nodes : nodes_of_graph)[type];
  }
};

// One graph of a dataset.
struct Sample {
  int64_t num_nodes = 0;           // number of nodes
  int64_t first_node = 0;          // its first row in node_features
  int64_t first_edge = 0;          // its first row in edges and edge_features
  std::span<const int32_t> edges;  // [E, 2]: source, target, ids within the graph
  int64_t num_edges() const { return static_cast<int64_t>(edges.size()) / 2; }  // number of edges
};

// A dataset: all graphs one after the other. Read-only; copies share memory.
struct Dataset {
  DatasetInfo info;  // task, metric, meaning of columns

  // [graphs + 1]: graph k has the nodes [first_node[k], first_node[k + 1]).
  Array<int64_t> first_node;
  Array<int64_t> first_edge;          // [graphs + 1], likewise for edges
  Matrix<int32_t> edges;              // [E, 2]: source, target, ids within their graph, as stored
  Features node_features;             // [nodes, columns]
  Features edge_features;             // [E, columns]
  Array<float> edge_weights;          // [E], finite; empty: edges have no weights
  Array<uint8_t> node_is_attributed;  // code: 1 for nodes with a token, in depth-first order
  Matrix<float> node_targets;         // [nodes, targets]: node targets beside those of graphs

  HeteroParts hetero;  // heterogeneous datasets: instead of the arrays above

  Labels labels;              // of the items
  std::vector<Split> splits;  // the first one is the default

  // What with_encodings() (data/encodings.h) has added for a network: [nodes, columns]. Neither
  // written nor part of the checksum.
  Matrix<float> encodings;

  std::string checksum_of_dataset;  // in a partition: checksum of the complete dataset
  std::string directory;            // where it was read and may be cached; empty: nowhere

  // Number of graphs.
  int64_t num_graphs() const { return first_node.empty() ? 1 : first_node.size() - 1; }
  int64_t num_nodes() const;  // in all graphs
  int64_t num_edges() const;  // as stored, before inverses are added
  // Number of items that splits divide: graphs, or nodes (of the target type) of the only graph.
  int64_t num_items() const;
  // Whether splits divide nodes.
  bool splits_nodes() const { return !is_graph_task(info.task) && num_graphs() == 1; }

  Sample sample(int64_t k) const;  // graph k
  // A split by name; an empty name gives the first. Throws kUsage with the known names.
  const Split& split(const std::string& name) const;
  int64_t num_bytes() const;  // size of all arrays
};

// Throws kData unless sizes, ids, labels and splits are consistent: call it for datasets made in
// memory. `where` begins the message.
void check_dataset(const Dataset& dataset, const std::string& where);
// As above, of graphs and features alone: for datasets without labels, which networks predict for.
void check_graphs(const Dataset& dataset, const std::string& where);

// Calls f(name, array or matrix) for every array of a dataset, const or not.
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
  f("edge_weights", dataset.edge_weights);
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
