// Benchmarks of single layers.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "egc/graph/csr.h"
#include "egc/nn/conv_table.h"

namespace egc::bench {

struct LayerBenchOptions {
  std::string model = "egc-m";
  std::string topology = "arxiv-like";
  int64_t hidden = 0;  // 0: the model's size in the paper's Arxiv table
  int64_t heads = 0;
  int64_t bases = 0;
  std::vector<std::string> aggregators;
  std::string self_loops = "all";
  std::string activation = "identity";
  double scale = 1.0;
  int64_t edge_types = 0;  // measure the layer with so many types of edges beside the one without
  int reps = 9;
  uint64_t seed = 0;
};

// One line of the table.
struct LayerBenchRow {
  std::string implementation;  // egc, edges, gemm, spmm
  std::string mode;            // infer, train
  double ms_median = 0;
  double ms_min = 0;
  double ms_p90 = 0;
  int reps = 0;
  double peak_extra_mb = 0;
};

struct LayerBenchResult {
  std::string description;  // the layer, spelled out
  int64_t nodes = 0;
  int64_t edges = 0;
  double output_and_bases_mb = 0;
  std::vector<LayerBenchRow> rows;
  // With edge types: the peak of a training step, and with twice the edges.
  double edges_train_mb = 0;
  double edges_train_mb_twice = 0;
};

// One layer of the comparison over all of them; its graph, and the same with twice the edges.
struct ModelBenchRow {
  std::string model;
  int64_t hidden = 0;
  int64_t parameters = 0;
  double infer_ms = 0;
  double train_ms = 0;
  int reps = 0;
  double infer_mb = 0;  // peak, beyond what is there before
  double train_mb = 0;
  double infer_mb_twice = 0;  // with twice the edges
  double train_mb_twice = 0;
};

struct ModelBenchResult {
  int64_t nodes = 0;
  int64_t edges = 0;
  std::vector<ModelBenchRow> rows;
};

LayerBenchResult measure_layer(const LayerBenchOptions& options);

// The named layers with their widths, measured in turn.
ModelBenchResult measure_models(const LayerBenchOptions& options,
                                const std::vector<std::pair<std::string, int64_t>>& models);

// Every edge once more between nodes half the graph further on: twice the edges, the same nodes and
// the same kind of degrees.
Csr with_twice_the_edges(const Csr& graph);

// The graph with a random type of every edge, the same in both directions.
Csr with_edge_types(const Csr& graph, int64_t types);

// Of a normal distribution.
Tensor random_matrix(int64_t rows, int64_t columns, Rng& rng);

// The layer that the options speak of.
nn::ConvSpec bench_spec(const LayerBenchOptions& options, int64_t hidden);

}  // namespace egc::bench
