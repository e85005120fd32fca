#include "egc/app/create_runs.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "egc/app/version.h"
#include "egc/core/error.h"
#include "egc/core/json_parse.h"
#include "egc/core/log.h"
#include "egc/core/nearest_name.h"
#include "egc/core/parallel.h"
#include "egc/core/text_file.h"
#include "egc/data/splits.h"
#include "egc/data/standardize.h"
#include "egc/inference/dataset_fit.h"
#include "egc/kernels/target.h"
#include "egc/models/fit_width.h"
#include "egc/nn/conv_table.h"
#include "egc/nn/relational_conv.h"
#include "egc/train/default_config.h"
#include "egc/train/run_directory.h"
#include "egc/train/trainer.h"

namespace egc::app {
namespace {

using Json = nlohmann::ordered_json;

// A configuration need not repeat what the dataset tells: task, features, classes, types of nodes.
train::RunConfig read_config(const std::string& path, const data::Dataset& dataset) {
  Json root = parse_json<Json>(read_text_file(path, ErrorKind::kUsage), path, ErrorKind::kUsage);
  const auto it = root.is_object() ? root.find("model") : root.end();
  if (it != root.end() && it->is_object()) {
    Json& model = *it;
    const bool has_features = model.contains("features") || model.contains("categories");
    const Json known = Json::parse(
        models::to_json(inference::config_for_dataset(dataset, models::ModelConfig().model)));
    for (const char* key : {"task", "hidden", "outputs", "encoder", "features", "categories",
                            "node_types", "relations", "target_type", "embedded_nodes"}) {
      const std::string_view name = key;
      if (has_features && (name == "features" || name == "categories")) continue;
      if (known.contains(key) && !model.contains(key)) model[key] = known[key];
    }
    if (model.value("edge_features", Json(false)) == Json(true) &&
        !model.contains("edge_categories") && !model.contains("edge_numbers")) {
      models::ModelConfig edges;
      edges.edge_features = true;
      inference::fill_edge_schema(edges, dataset);
      model["edge_categories"] = edges.edge_categories;
      model["edge_numbers"] = edges.edge_numbers;
    }
  }
  return train::parse_run_config(root.dump(), path);
}

// The fields of `known` that are set, as a JSON object.
std::string chosen_fields(const std::vector<FieldFacts>& known, const TrainOptions& o) {
  Json out = Json::object();
  for (const FieldFacts& field : known)
    if (const auto it = o.settings.find(field.key); it != o.settings.end())
      out[field.key] = Json::parse(json_of_text(field, it->second));
  return out.dump();
}

// Options without an effect would be believed to have one.
void check_options(const TrainOptions& o, const models::ModelConfig& m,
                   const train::TrainConfig& t) {
  const std::vector<FieldFacts> fields = settable_fields();
  for (const auto& [key, value] : o.settings) {
    const auto field = std::find_if(fields.begin(), fields.end(),
                                    [&, k = key](const FieldFacts& f) { return f.key == k; });
    if (field == fields.end()) {
      std::vector<std::string_view> known;
      for (const FieldFacts& f : fields) known.push_back(f.key);
      fail(ErrorKind::kUsage, "unknown setting \"{}\"{}", key, spell_known(key, known));
    }
    if (!field->layers.empty()) nn::check_takes(m.model, key, field->flag);
  }
  const auto given = [&](const char* key) { return o.settings.contains(key); };
  check(m.task != Task::kNodeClassificationHetero || (!given("norm") && !given("residual")),
        "networks for heterogeneous tasks have neither batch norm nor residual connections: --norm "
        "and --residual do not apply");
  check(m.model != "ga-mlp" || !given("residual"),
        "ga-mlp has no residual connections: --residual does not apply");
  check(is_graph_task(m.task) || !given("readout"),
        "--readout applies to graph-level tasks only, not to {}", tasks().name_of(m.task));
  const bool mlp_head =
      is_graph_task(m.task) && m.task != Task::kGraphSequence && m.model != "ga-mlp";
  check(mlp_head || !given("head_layers"),
        "--head-layers does not apply to {} with the task {}: the head is one linear layer",
        m.model, tasks().name_of(m.task));
  for (const auto& [key, flag] : {std::pair{"lr_factor", "--lr-factor"},
                                  {"lr_patience", "--lr-patience"},
                                  {"min_lr", "--min-lr"}})
    check(t.schedule == train::Schedule::kPlateau || !given(key),
          "{} has no effect with the schedule \"{}\": it is of the schedule \"plateau\"", flag,
          train::schedules().name_of(t.schedule));
  check(!given("dropout_at") || m.dropout > 0, "--dropout-at needs a --dropout above 0");
}

// Rules of the configuration speak of its fields; whoever gave a flag is told of the flag.
template <class Check>
void check_as_flags(const TrainOptions& o, const Check& rules) {
  try {
    rules();
  } catch (const Error& e) {
    const std::string_view said = e.what();
    for (const FieldFacts& field : settable_fields())
      for (const std::string& name : {field.key, "\"" + field.key + "\""})
        if (o.settings.contains(field.key) && said.starts_with(name + " "))
          fail(e.kind(), "{}{}", field.flag, said.substr(name.size()));
    throw;
  }
}

// Heads and towers share out the width. Layers refuse one that cannot be shared, too, but know no
// flags.
void explain_width(const models::ModelConfig& m) {
  const nn::LayerDescriptor& layer = nn::layer_descriptor(m.model);
  const auto explain = [&](const char* flag, std::optional<int64_t> given, int64_t otherwise) {
    const int64_t parts = given.value_or(otherwise);
    if (m.hidden % parts == 0) return;
    const int64_t above = (m.hidden / parts + 1) * parts;
    fail(ErrorKind::kUsage, "--hidden {} must be a multiple of {} {}{}, for instance {}{}",
         m.hidden, flag, parts, given ? "" : " (the default)",
         above > parts ? fmt::format("{} or ", above - parts) : "", above);
  };
  if (layer.takes("heads"))
    explain("--heads", m.heads,
            m.model == "regc"            ? nn::RegcConvOptions(1, 1).heads
            : m.model.starts_with("egc") ? nn::egc_options(m.model, {}).heads
                                         : 8);
  if (layer.takes("towers")) explain("--towers", m.towers, nn::ConvSpec().towers);
}

// Columns of tables are standardised unless the person says otherwise.
void choose_scaling(const data::Dataset& dataset, const models::ModelConfig& m,
                    train::TrainConfig& t) {
  const bool part = !dataset.checksum_of_dataset.empty();
  const bool edges = inference::uses_edge_features(m);
  if (t.standardize.empty()) {
    const bool raw =
        data::has_raw_numbers(dataset.info) || (edges && data::has_raw_edge_numbers(dataset.info));
    t.standardize = raw && !part ? "train" : "none";
  }
  if (t.standardize == "train") {
    check(data::has_float_features(dataset) || (edges && !dataset.edge_features.floats.empty()),
          "--standardize train: {} has no float features to standardize", dataset.info.name);
    check(!part, "--standardize train needs the whole dataset, not a partitioned one");
    return;
  }
  if (part) return;  // whose own values need not be those of the whole
  const auto far = data::columns_far_apart(dataset, data::with_valid(dataset, t.split));
  if (!far.empty())
    log_warning(
        "the scales of feature columns {} differ by more than a factor of {}; consider "
        "--standardize train",
        fmt::join(far, " and "), data::kFarApart);
}

}  // namespace

std::vector<FieldFacts> settable_fields() {
  std::vector<FieldFacts> out = models::config_fields();
  const std::vector<FieldFacts> training = train::config_fields();
  out.insert(out.end(), training.begin(), training.end());
  std::erase_if(out, [](const FieldFacts& field) { return field.flag.empty(); });
  return out;
}

train::RunConfig resolve_config(const data::Dataset& dataset, const TrainOptions& o) {
  const auto given = [&](const char* key) { return o.settings.contains(key); };
  train::RunConfig run;
  if (!o.config.empty()) {
    run = read_config(o.config, dataset);
    if (!o.model.empty() && o.model != run.model.model) models::set_layer(run.model, o.model);
  } else {
    check(!o.model.empty(), "--model or --config is needed");
    run = train::default_run(dataset, o.model, given("split") ? o.settings.at("split") : "");
  }
  run.dataset = o.dataset;
  models::ModelConfig& m = run.model;
  train::TrainConfig& t = run.train;
  check_as_flags(o, [&] {
    models::override_fields(m, chosen_fields(models::config_fields(), o));
    train::override_fields(t, chosen_fields(train::config_fields(), o));
  });
  inference::fill_edge_schema(m, dataset);
  check_options(o, m, t);
  if (!given("encoder") && o.config.empty() && m.encoder == models::Encoder::kNone &&
      m.schema.node_types.empty() && (m.residual || m.outputs > m.hidden || !m.encode.empty()))
    m.encoder = models::Encoder::kLinear;  // the default without one does not go with these options
  // Said in full, so that another version's defaults change nothing.
  if (nn::layer_descriptor(m.model).takes("self_loops") && !m.self_loops)
    m.self_loops = SelfLoops::kAll;
  if (m.edge_features && nn::layer_descriptor(m.model).takes("message") && !m.message)
    m.message = models::Message::kRelu;
  const auto& at = m.dropout_at;
  if (m.dropout > 0 && !at.encoder && !at.conv_input && !at.activation && !at.head)
    m.dropout_at.activation = true;
  if (o.parameters) {
    check(!given("hidden"), "--hidden and --parameters both set the width; give one of them");
    m.hidden = models::fit_width(m, *o.parameters);
  }
  check_as_flags(o, [&] {
    models::check_config(m);
    train::check_config(t);
  });
  dataset.split(t.split);
  check_as_flags(o, [&] { inference::check_fits(m, dataset); });
  choose_scaling(dataset, m, t);
  if (given("batch") && (dataset.splits_nodes() || !dataset.hetero.empty()))
    log_warning("--batch has no effect: {} is a single graph, trained full-batch",
                dataset.info.name);
  return run;
}

void create_runs(const LoadedDataset& loaded, const TrainOptions& options,
                 const std::vector<RunToCreate>& runs, int64_t processes) {
  const data::Dataset& dataset = loaded.dataset;
  train::RunConfig config = resolve_config(dataset, options);
  check_as_flags(options, [&] { train::check_training(config, dataset.info); });
  if (processes > 1) train::check_group_training(config, dataset, processes);
  try {
    (void)nlohmann::json(config.dataset).dump();
  } catch (const nlohmann::json::exception&) {
    fail(ErrorKind::kUsage,
         "the name of the dataset must be valid UTF-8 to be stored in config.json");
  }
  models::ModelConfig tried = config.model;
  if (nn::layer_descriptor(tried.model).takes("mean_log_degree") && !tried.mean_log_degree)
    tried.mean_log_degree = 1;  // training takes its data's
  try {
    models::make_network(tried);  // says what is wrong before there is a directory
  } catch (const Error&) {
    explain_width(tried);
    throw;
  }
  train::RunAbout about{version_with_revision(), kernels::current_target(), num_threads(),
                        loaded.checksum};
  for (const RunToCreate& run : runs) {
    config.seed = run.seed;
    train::RunDirectory::create(run.directory).write_config(config, about);
  }
}

}  // namespace egc::app
