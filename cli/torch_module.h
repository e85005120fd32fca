// The door to everything that needs LibTorch. It lives in a library of its own, loaded on demand,
// so that the other commands start in milliseconds.
#pragma once

#include <csignal>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "egc/data/build_csv.h"
#include "egc/data/dataset.h"
#include "egc/graph/csr.h"

namespace egc::cli {

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
  int reps = 9;
  bool aten = false;  // also the layer composed of ATen calls
  uint64_t seed = 0;
};

// One line of the table.
struct LayerBenchRow {
  std::string implementation;  // egc, aten, gemm, spmm
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
};

// One layer of the comparison over all of them; its graph, and the same with twice the edges.
struct ModelBenchRow {
  std::string model;
  std::string implementation;  // egc, aten
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

// An epoch of training steps with batches that are ready, made ahead by a thread, or made in
// between.
struct LoaderBenchOptions {
  std::string model = "egc-m";
  int64_t hidden = 124;
  int64_t batch = 64;
  int64_t most_batches = 200;
  int reps = 5;
  uint64_t seed = 0;
};
struct LoaderBenchRow {
  std::string batches;   // ready, ahead, between; alone: made without training
  double ms_median = 0;  // of the epoch
  double ms_min = 0;
  int reps = 0;
};
struct LoaderBenchResult {
  int64_t batches = 0;
  std::vector<LoaderBenchRow> rows;
};

// What the user asked of training; what is not given comes from --config, or suits the dataset.
struct TrainFlags {
  std::string dataset;
  std::string config;  // a file
  std::string model;
  std::optional<int64_t> hidden, layers, heads, bases;
  std::optional<int64_t> parameters;  // instead of hidden: the width that gives so many
  std::vector<std::string> aggregators;
  std::optional<std::string> self_loops, activation;
  std::optional<bool> norm, residual;
  std::optional<std::string> encoder, readout;
  std::optional<double> dropout;
  std::vector<std::string> dropout_at;
  std::optional<double> lr, wd, lr_factor, min_lr, clip, drop_edges, drop_nodes,
      aggregator_sparsity;
  std::optional<int64_t> batch, epochs, patience, lr_patience;
  std::optional<std::string> watch, split, standardize;
};
// An epoch of training; seconds.
struct EpochBenchRow {
  double train_s = 0;
  double kernels = 0;  // of train_s: passes over graphs and rows,
  double gemm = 0;     // dense products,
  double other = 0;    // everything else
  double eval_s = 0;
  int64_t batches = 0;
  int64_t parameters = 0;
  double train_peak_mb = 0;  // what training added to the resident set at its peak
};

// One of `size` processes that train together; rank 0 has the files.
struct GroupPlace {
  int rank = 0;
  int size = 1;
};
struct RunToCreate {
  std::string directory;
  uint64_t seed = 0;
};
enum class TrainOutput { kBar, kLines, kJson, kNothing };
struct TrainOptions {
  TrainOutput output = TrainOutput::kLines;
  int64_t checkpoint_every = 1;
  int64_t until = 0;                                 // the epoch to pause after; 0: none
  const volatile std::sig_atomic_t* stop = nullptr;  // not 0: stop after this batch
};
struct TrainOutcome {
  bool interrupted = false;
  bool paused = false;  // there is no test score then
  uint64_t seed = 0;
  std::string dataset, model, metric;
  int64_t epochs = 0;
  int64_t best_epoch = 0;
  int64_t parameters = 0;
  double valid = 0;
  double test = 0;
  double seconds = 0;
};
using LoadDataset = std::function<data::Dataset(const std::string& name)>;

struct EvalResult {
  std::string metric;
  double value = 0;
  int64_t items = 0;  // labelled ones
};

// What `egc info` tells of a model.
struct ModelFacts {
  std::string model;
  int64_t parameters = 0;
  std::string config_json;
  std::string metrics_json;  // may be empty
  std::string dataset_json;  // what it was trained on; may be empty
};

// Prediction reads datasets of some graphs at a time. What the input says of each graph or node
// goes along, so that predictions can be joined with it.
struct PredictChunk {
  data::Dataset dataset;
  std::vector<int64_t> numbers;  // of the graphs in the input; empty: one after the other
  std::vector<std::string> ids;  // of the nodes, where the input has ids
  bool named = false;
  std::vector<std::string> names;        // where they are named
  std::vector<data::ExtraColumn> extra;  // further columns
};
using NextChunk = std::function<std::optional<PredictChunk>()>;
using OpenInput = std::function<NextChunk(const data::DatasetInfo& trained_on)>;
enum class PredictFormat { kCsv, kJsonLines };
struct PredictOptions {
  std::vector<std::string> models;  // several: the mean of their predictions
  std::string out;                  // empty: stdout
  PredictFormat format = PredictFormat::kCsv;
  int64_t batch = 256;
};

// Shares of squared norms, means over nodes.
struct ExplainLayer {
  std::vector<double> aggregators, bases, heads;
};
struct ExplainResult {
  int64_t nodes = 0;
  std::vector<std::string> aggregators;  // their names
  std::vector<ExplainLayer> layers;
  std::vector<double> all;  // of the aggregators, mean over layers
};
struct ExplainOptions {
  std::string model;
  std::string part;  // of the dataset's first split; empty: everything
  std::string out;   // a directory; empty: none
  int64_t pictures = 1;
};

enum class ExportForm { kModel, kPyg, kAuthors, kOnnx };
struct ExportOptions {
  std::string model;
  std::string out;
  ExportForm form = ExportForm::kModel;
  bool half = false;  // kModel
};
struct ImportOptions {
  std::string checkpoint;
  std::string out;
  bool from_authors = true;  // else from PyTorch Geometric
  std::string config;        // a file; without it the shapes tell, and what follows
  std::string model;
  std::optional<std::string> task, self_loops, activation;
  std::optional<int64_t> heads;
  std::vector<std::string> aggregators;
};

struct TorchModule {
  void (*set_num_threads)(int n);
  // y = A x by ATen's sparse CSR product, x: [N, columns] row-major.
  std::function<void()> (*aten_csr_matmul)(const Csr& graph, const float* x, int64_t columns);
  // x times a square weight matrix by ATen.
  std::function<void()> (*aten_matmul)(int64_t rows, const float* x, int64_t columns);
  LayerBenchResult (*bench_layer)(const LayerBenchOptions& options);
  // The named layers with their widths, measured in turn.
  ModelBenchResult (*bench_models)(const LayerBenchOptions& options,
                                   const std::vector<std::pair<std::string, int64_t>>& models);
  LoaderBenchResult (*bench_loader)(const data::Dataset& dataset,
                                    const LoaderBenchOptions& options);
  EpochBenchRow (*bench_epoch)(const data::Dataset& dataset, const TrainFlags& flags, int reps);
  // Run directories with complete configurations, ready to be trained in.
  void (*create_runs)(const data::Dataset& dataset, const TrainFlags& flags,
                      const std::vector<RunToCreate>& runs);
  // Where this process is in the group that its environment names.
  GroupPlace (*train_place)();
  // Begins or goes on, alone or with the others of its group.
  TrainOutcome (*train_run)(const std::string& directory, const LoadDataset& load,
                            const TrainOptions& options);
  // models: files or runs, several for the mean of their predictions; part: train, valid or test.
  EvalResult (*evaluate)(const std::vector<std::string>& models, const data::Dataset& dataset,
                         const std::string& part, int64_t batch);
  // The number of lines written.
  int64_t (*predict)(const PredictOptions& options, const OpenInput& open);
  ExplainResult (*explain)(const ExplainOptions& options, const OpenInput& open);
  ModelFacts (*model_facts)(const std::string& model);
  ModelFacts (*config_facts)(const std::string& config_file);
  void (*export_model)(const ExportOptions& options);
  // dataset: what the model will be asked about, or null; predictions need it.
  ModelFacts (*import_model)(const ImportOptions& options, const data::Dataset* dataset);
};

// Loads it on the first call.
const TorchModule& torch_module();

}  // namespace egc::cli
