// The functions behind torch_module.h's table.
#pragma once

#include "cli/torch_module.h"
#include "egc/train/run_config.h"

namespace egc::cli {

std::function<void()> aten_csr_matmul(const Csr& graph, const float* x, int64_t columns);
std::function<void()> aten_matmul(int64_t rows, const float* x, int64_t columns);
LayerBenchResult bench_layer(const LayerBenchOptions& options);
ModelBenchResult bench_models(const LayerBenchOptions& options,
                              const std::vector<std::pair<std::string, int64_t>>& models);
LoaderBenchResult bench_loader(const data::Dataset& dataset, const LoaderBenchOptions& options);
EpochBenchRow bench_epoch(const data::Dataset& dataset, const TrainFlags& flags, int reps);
// Everything that the flags, a configuration file and the dataset say together.
train::RunConfig resolve_config(const data::Dataset& dataset, const TrainFlags& flags);
void create_runs(const data::Dataset& dataset, const TrainFlags& flags,
                 const std::vector<RunToCreate>& runs);
GroupPlace train_place();
TrainOutcome train_run(const std::string& directory, const LoadDataset& load,
                       const TrainOptions& options);
EvalResult evaluate_model(const std::vector<std::string>& models, const data::Dataset& dataset,
                          const std::string& part, int64_t batch);
int64_t predict(const PredictOptions& options, const OpenInput& open);
ExplainResult explain(const ExplainOptions& options, const OpenInput& open);
ModelFacts model_facts(const std::string& model);
ModelFacts config_facts(const std::string& config_file);
void export_model(const ExportOptions& options);
ModelFacts import_model(const ImportOptions& options, const data::Dataset* dataset);

}  // namespace egc::cli
