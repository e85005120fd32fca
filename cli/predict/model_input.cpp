#include "cli/predict/model_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

#include "cli/data/build_module.h"
#include "egc/app/find_dataset.h"
#include "egc/core/error.h"
#include "egc/core/log.h"
#include "egc/data/formats/text_blocks.h"
#include "egc/data/slice.h"

namespace egc::cli {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kChunk = 4096;  // graphs read at a time

// The names are the input's own where it has some, else the SMILES. own_names: of lines.
app::PredictChunk molecules_chunk(molecules::MoleculeStream::Chunk chunk,
                                  const molecules::SmilesRows& input, bool own_names) {
  app::PredictChunk out;
  out.dataset = std::move(chunk.dataset);
  out.named = true;
  std::vector<std::string> smiles;
  for (const std::string& name : input.other_columns()) out.extra.push_back({name, {}});
  for (const molecules::SmilesRow& row : chunk.rows) {
    out.numbers.push_back(row.number);
    smiles.push_back(row.smiles);
    out.names.push_back(own_names && !row.name.empty() ? row.name : row.smiles);
    for (size_t k = 0; k < row.other.size(); ++k) out.extra[k].values.push_back(row.other[k]);
  }
  const auto name = std::find_if(out.extra.begin(), out.extra.end(),
                                 [](const data::ExtraColumn& c) { return c.name == "name"; });
  if (name != out.extra.end()) {
    out.names = std::exchange(name->values, std::move(smiles));
    name->name = input.smiles_column();
  } else if (own_names) {
    out.extra.push_back({"smiles", std::move(smiles)});
  }
  return out;
}

app::NextChunk read_smiles(const ModelInputOptions& o, const data::DatasetInfo& info) {
  const auto stream = build_module().open_molecules(o.input, o.smiles_column, info);
  // Of lines with names behind some SMILES; the first chunk tells.
  return [o, stream,
          own_names = std::optional<bool>()]() mutable -> std::optional<app::PredictChunk> {
    auto chunk = build_module().next_molecules(*stream, kChunk);
    if (!chunk) return std::nullopt;
    if (!own_names)
      own_names = std::any_of(chunk->rows.begin(), chunk->rows.end(),
                              [](const molecules::SmilesRow& row) { return !row.name.empty(); });
    for (const auto& bad : chunk->bad) {
      const std::string what =
          fmt::format("{}:{}: \"{}\": {}", o.input, bad.line, bad.smiles.substr(0, 80), bad.reason);
      if (!o.skip_bad) fail(ErrorKind::kData, "{}; --skip-bad skips such lines", what);
      log_warning("skipped {}", what);
    }
    return molecules_chunk(*std::move(chunk), stream->input(), *own_names);
  };
}

app::NextChunk read_in_slices(const data::Dataset& dataset) {
  auto first = std::make_shared<int64_t>(0);
  const bool is_one_graph = !dataset.hetero.empty() || dataset.splits_nodes();
  return [dataset, first, is_one_graph]() -> std::optional<app::PredictChunk> {
    if (*first >= dataset.num_graphs()) return std::nullopt;
    const int64_t count = std::min(kChunk, dataset.num_graphs() - *first);
    app::PredictChunk chunk;
    chunk.dataset = is_one_graph ? dataset : data::slice(dataset, *first, count);
    *first += count;
    return chunk;
  };
}

void warn_of_gaps(const std::vector<data::FeatureColumn>& columns,
                  const std::vector<data::ColumnGaps>& gaps, const char* what) {
  for (size_t k = 0; k < gaps.size(); ++k)
    if (gaps[k].missing + gaps[k].unknown > 0)
      log_warning("{} \"{}\": {} missing values, {} values that were not in the training data",
                  what, columns[k].name, gaps[k].missing, gaps[k].unknown);
}

app::NextChunk read_tables(const ModelInputOptions& o, const data::DatasetInfo& info) {
  check_data(!info.columns.empty() || info.node_features == data::FeatureKind::kNone,
             "the model was trained on {}, which was not built from tables, so it does not take "
             "--nodes and --edges",
             info.name);
  data::CsvOptions csv = o.csv;
  csv.name = csv.nodes.string();
  csv.like = &info;
  if (is_graph_task(info.task) && csv.graph_id.empty())
    log_warning("without --graph-id, all nodes of {} form one graph", csv.name);
  data::CsvDataset built = data::build_csv(csv);
  warn_of_gaps(built.dataset.info.columns, built.gaps, "column");
  warn_of_gaps(built.dataset.info.edge_columns, built.edge_gaps, "edge column");
  for (const std::string& notice : built.notices) log_warning("{}", notice);
  app::PredictChunk made;
  made.dataset = std::move(built.dataset);
  made.named = true;
  made.names = is_graph_task(info.task) ? std::move(built.graphs) : std::move(built.nodes);
  // Predictions are joined by the column that the table has for it.
  if (built.id_column == "id" && !is_graph_task(info.task)) made.ids = made.names;
  made.extra = std::move(built.extra);
  const auto name = std::find_if(made.extra.begin(), made.extra.end(),
                                 [](const data::ExtraColumn& c) { return c.name == "name"; });
  if (!made.ids.empty() && name != made.extra.end()) {
    made.names = std::move(name->values);
    made.extra.erase(name);
  }
  auto chunk = std::make_shared<std::optional<app::PredictChunk>>(std::move(made));
  return [chunk] { return std::exchange(*chunk, std::nullopt); };
}

}  // namespace

void add_model_input(CLI::App& c, ModelInputOptions& o) {
  c.add_option("input", o.input,
               "Dataset, or file of SMILES (CSV or TSV with a header row, or one SMILES per line, "
               "optionally followed by a name); - reads SMILES from stdin");
  c.add_option("--nodes", o.csv.nodes,
               "Node table instead of an input, as for egc data build csv; needs --edges");
  c.add_option("--edges", o.csv.edges, "Edge table for --nodes");
  c.add_option("--id", o.csv.id, "Node id column (default: id, or else the first)");
  c.add_option("--graph-id", o.csv.graph_id, "Column with the id of a node's graph");
  c.add_option("--smiles-column", o.smiles_column, "SMILES column (default: smiles)");
  c.add_flag("--skip-bad", o.skip_bad, "Skip invalid SMILES, with a warning for each");
}

void check_model_input(const ModelInputOptions& o, const char* command) {
  check(o.csv.nodes.empty() == o.csv.edges.empty() && o.csv.nodes.empty() != o.input.empty(),
        "egc {} takes either an input, or --nodes and --edges together", command);
}

app::NextChunk open_model_input(const ModelInputOptions& o, const CommonOptions& common,
                                const data::DatasetInfo& info) {
  if (!o.csv.nodes.empty()) return read_tables(o, info);
  std::error_code ignored;
  if (o.input == data::kStdin || fs::is_regular_file(o.input, ignored)) return read_smiles(o, info);
  return read_in_slices(app::load_dataset(o.input, common));
}

}  // namespace egc::cli
