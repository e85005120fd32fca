// From flags, a configuration file and the dataset to run directories with complete configurations.
#include <nlohmann/json.hpp>

#include "cli/torch/module.h"
#include "cli/version.h"
#include "egc/core/error.h"
#include "egc/core/parallel.h"
#include "egc/data/cache.h"
#include "egc/kernels/target.h"
#include "egc/models/fit_width.h"
#include "egc/train/default_config.h"
#include "egc/train/run_directory.h"
#include "egc/train/trainer.h"

namespace egc::cli {
namespace {

template <class To, class From>
void override_with(To& to, const std::optional<From>& given) {
  if (given) to = *given;
}

}  // namespace

train::RunConfig resolve_config(const data::Dataset& dataset, const TrainFlags& f) {
  train::RunConfig run;
  if (!f.config.empty()) {
    run = train::read_run_config(f.config);
    if (!f.model.empty() && f.model != run.model.model) {
      // Another layer in the same network: what only the configured one has goes.
      run.model.model = f.model;
      run.model.heads.reset();
      run.model.bases.reset();
      run.model.aggregators.reset();
    }
  } else {
    check(!f.model.empty(), "--model or --config is needed");
    run.model = train::default_config(dataset, f.model);
  }
  run.dataset = f.dataset;
  models::ModelConfig& m = run.model;
  override_with(m.hidden, f.hidden);
  override_with(m.layers, f.layers);
  override_with(m.heads, f.heads);
  override_with(m.bases, f.bases);
  override_with(m.dropout, f.dropout);
  if (!f.aggregators.empty()) m.aggregators = parse_aggregators(f.aggregators);
  if (f.self_loops) m.self_loops = parse_self_loops(*f.self_loops);
  if (f.activation) m.activation = nn::parse_weight_activation(*f.activation);
  const auto& at = m.dropout_at;
  if (m.dropout > 0 && !at.encoder && !at.conv_input && !at.activation && !at.head)
    m.dropout_at.activation = true;
  train::TrainConfig& t = run.train;
  override_with(t.lr, f.lr);
  override_with(t.wd, f.wd);
  override_with(t.lr_factor, f.lr_factor);
  override_with(t.min_lr, f.min_lr);
  override_with(t.clip, f.clip);
  override_with(t.batch, f.batch);
  override_with(t.epochs, f.epochs);
  override_with(t.early_stop, f.patience);
  override_with(t.lr_patience, f.lr_patience);
  override_with(t.watch, f.watch);
  override_with(t.split, f.split);
  override_with(t.drop_edges, f.drop_edges);
  override_with(t.drop_nodes, f.drop_nodes);
  override_with(t.aggregator_sparsity, f.aggregator_sparsity);
  if (f.parameters) {
    check(!f.hidden, "--hidden and --parameters both give the width; one of them is enough");
    m.hidden = models::fit_width(m, *f.parameters);
  }
  models::check_config(m);
  train::check_config(t);
  dataset.split(t.split);
  train::check_fits(m, dataset);
  return run;
}

void create_runs(const data::Dataset& dataset, const TrainFlags& flags,
                 const std::vector<RunToCreate>& runs) {
  train::RunConfig config = resolve_config(dataset, flags);
  train::check_training(config, dataset.info);
  if (const int size = train_place().size; size > 1)
    train::check_group_training(config, dataset, size);
  try {
    (void)nlohmann::json(config.dataset).dump();
  } catch (const nlohmann::json::exception&) {
    fail(ErrorKind::kUsage, "the name of the dataset must be UTF-8, as config.json keeps it");
  }
  models::ModelConfig tried = config.model;
  if (!tried.mean_log_degree) tried.mean_log_degree = 1;  // training takes its data's
  models::make_network(tried);  // says what is wrong before there is a directory
  train::RunAbout about{version_with_revision(), kernels::current_target(), num_threads(),
                        data::dataset_checksum(dataset)};
  for (const RunToCreate& run : runs) {
    config.seed = run.seed;
    train::RunDirectory::create(run.directory).write_config(config, about);
  }
}

}  // namespace egc::cli
