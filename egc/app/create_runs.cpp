#include "egc/app/create_runs.h"

#include <nlohmann/json.hpp>

#include "egc/app/version.h"
#include "egc/core/error.h"
#include "egc/core/json_parse.h"
#include "egc/core/layer_options.h"
#include "egc/core/log.h"
#include "egc/core/parallel.h"
#include "egc/core/text_file.h"
#include "egc/data/splits.h"
#include "egc/data/standardize.h"
#include "egc/kernels/target.h"
#include "egc/models/fit_width.h"
#include "egc/train/default_config.h"
#include "egc/train/run_directory.h"
#include "egc/train/trainer.h"

namespace egc::app {
namespace {

using Json = nlohmann::ordered_json;

template <class To, class From>
void override_with(To& to, const std::optional<From>& given) {
  if (given) to = *given;
}

// A configuration need not repeat what the dataset tells: task, features, classes, types of nodes.
train::RunConfig read_config(const std::string& path, const data::Dataset& dataset) {
  Json root = parse_json<Json>(read_text_file(path, ErrorKind::kUsage), path, ErrorKind::kUsage);
  const auto it = root.is_object() ? root.find("model") : root.end();
  if (it != root.end() && it->is_object()) {
    Json& model = *it;
    const bool has_features = model.contains("features") || model.contains("categories");
    const Json known =
        Json::parse(models::to_json(train::default_config(dataset, models::ModelConfig().model)));
    for (const char* key : {"task", "hidden", "outputs", "encoder", "features", "categories",
                            "node_types", "relations", "target_type", "embedded_nodes"}) {
      const std::string_view name = key;
      if (has_features && (name == "features" || name == "categories")) continue;
      if (known.contains(key) && !model.contains(key)) model[key] = known[key];
    }
  }
  return train::parse_run_config(root.dump(), path);
}

// Flags without an effect would be believed to have one.
void check_flags(const TrainFlags& f, const models::ModelConfig& m) {
  const auto of_layer = [&](bool given, const char* option, const char* flag) {
    if (given) check_takes(m.model, option, flag);
  };
  of_layer(f.heads.has_value(), "heads", "--heads");
  of_layer(f.bases.has_value(), "bases", "--bases");
  of_layer(!f.aggregators.empty(), "aggregators", "--aggregators");
  of_layer(f.self_loops.has_value(), "self_loops", "--self-loops");
  of_layer(f.activation.has_value(), "activation", "--activation");
  check(m.task != Task::kNodeClassificationHetero || (!f.norm && !f.residual),
        "networks of heterogeneous tasks have neither batch norm nor residual connections: --norm "
        "and --residual do not apply");
  check(m.model != "ga-mlp" || !f.residual,
        "ga-mlp has no layers with a residual connection: --residual does not apply");
  check(is_graph_task(m.task) || !f.readout, "--readout is for tasks on graphs, not for {}",
        tasks().name_of(m.task));
  check(f.dropout_at.empty() || m.dropout > 0, "--dropout-at needs --dropout above 0");
}

// Columns of tables are standardised unless the person says otherwise.
void choose_scaling(const data::Dataset& dataset, train::TrainConfig& t) {
  const bool part = !dataset.checksum_of_whole.empty();
  if (t.standardize.empty())
    t.standardize = data::has_raw_numbers(dataset.info) && !part ? "train" : "none";
  if (t.standardize == "train") {
    check(data::has_float_features(dataset),
          "--standardize train: {} has no float features to scale", dataset.info.name);
    check(!part, "--standardize train needs the whole dataset, not parts of it");
    return;
  }
  if (part) return;  // whose own values need not be those of the whole
  const auto far = data::columns_far_apart(dataset, data::with_valid(dataset, t.split));
  if (!far.empty())
    log_warning(
        "the values of feature columns {} differ by more than a factor of {}; --standardize train "
        "scales them",
        fmt::join(far, " and "), data::kFarApart);
}

}  // namespace

train::RunConfig resolve_config(const data::Dataset& dataset, const TrainFlags& f) {
  train::RunConfig run;
  if (!f.config.empty()) {
    run = read_config(f.config, dataset);
    if (!f.model.empty() && f.model != run.model.model) models::set_layer(run.model, f.model);
  } else {
    check(!f.model.empty(), "--model or --config is needed");
    run = train::default_run(dataset, f.model, f.split.value_or(""));
  }
  run.dataset = f.dataset;
  models::ModelConfig& m = run.model;
  override_with(m.hidden, f.hidden);
  override_with(m.layers, f.layers);
  override_with(m.heads, f.heads);
  override_with(m.bases, f.bases);
  override_with(m.dropout, f.dropout);
  override_with(m.norm, f.norm);
  override_with(m.residual, f.residual);
  check_flags(f, m);
  if (!f.aggregators.empty()) m.aggregators = parse_aggregators(f.aggregators);
  if (f.self_loops) m.self_loops = parse_self_loops(*f.self_loops);
  if (f.activation) m.activation = parse_weight_activation(*f.activation);
  if (f.encoder)
    m.encoder = models::encoders().at(*f.encoder);
  else if (f.config.empty() && m.encoder == models::Encoder::kNone && m.schema.node_types.empty() &&
           (m.residual || m.outputs > m.hidden))
    m.encoder = models::Encoder::kLinear;  // the default without one does not go with these flags
  if (f.readout) m.readout = models::readouts().at(*f.readout);
  // Said in full, so that another version's defaults change nothing.
  if (layer_traits(m.model).takes("self_loops") && !m.self_loops) m.self_loops = SelfLoops::kAll;
  if (!f.dropout_at.empty()) m.dropout_at = models::parse_dropout_at(f.dropout_at);
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
  override_with(t.standardize, f.standardize);
  if (f.parameters) {
    check(!f.hidden, "--hidden and --parameters both give the width; one of them is enough");
    m.hidden = models::fit_width(m, *f.parameters);
  }
  models::check_config(m);
  train::check_config(t);
  dataset.split(t.split);
  train::check_fits(m, dataset);
  choose_scaling(dataset, t);
  if (f.batch && (dataset.splits_nodes() || !dataset.hetero.empty()))
    log_warning("--batch has no effect: {} is one graph, which is trained whole",
                dataset.info.name);
  return run;
}

void create_runs(const LoadedDataset& loaded, const TrainFlags& flags,
                 const std::vector<RunToCreate>& runs, int64_t processes) {
  const data::Dataset& dataset = loaded.dataset;
  train::RunConfig config = resolve_config(dataset, flags);
  train::check_training(config, dataset.info);
  if (processes > 1) train::check_group_training(config, dataset, processes);
  try {
    (void)nlohmann::json(config.dataset).dump();
  } catch (const nlohmann::json::exception&) {
    fail(ErrorKind::kUsage, "the name of the dataset must be UTF-8, as config.json keeps it");
  }
  models::ModelConfig tried = config.model;
  if (tried.model == "pna" && !tried.mean_log_degree)
    tried.mean_log_degree = 1;  // training takes its data's
  models::make_network(tried);  // says what is wrong before there is a directory
  train::RunAbout about{version_with_revision(), kernels::current_target(), num_threads(),
                        loaded.checksum};
  for (const RunToCreate& run : runs) {
    config.seed = run.seed;
    train::RunDirectory::create(run.directory).write_config(config, about);
  }
}

}  // namespace egc::app
