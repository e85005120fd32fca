// egc predict: what a model says of graphs it has not seen.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/build_module.h"
#include "cli/common.h"
#include "cli/dataset_argument.h"
#include "cli/torch_module.h"
#include "egc/core/error.h"
#include "egc/core/log.h"
#include "egc/data/build_csv.h"
#include "egc/data/slice.h"

namespace egc::cli {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kChunk = 4096;  // graphs read at a time

struct Options : PredictOptions {
  std::string input;
  std::string format_name;
  std::string smiles_column;
  bool skip_bad = false;
  data::CsvOptions csv;
};

NextChunk read_smiles(const Options& o, const data::DatasetInfo& info) {
  const auto stream = build_module().open_molecules(o.input, o.smiles_column, info);
  return [o, stream]() -> std::optional<PredictChunk> {
    auto chunk = build_module().next_molecules(*stream, kChunk);
    if (!chunk) return std::nullopt;
    for (const auto& bad : chunk->bad) {
      const std::string what =
          fmt::format("{}:{}: \"{}\": {}", o.input, bad.line, bad.smiles.substr(0, 80), bad.reason);
      if (!o.skip_bad) fail(ErrorKind::kData, "{}; --skip-bad goes on without it", what);
      log_warning("skipped {}", what);
    }
    return PredictChunk{std::move(chunk->dataset), true, std::move(chunk->smiles)};
  };
}

NextChunk read_in_slices(const data::Dataset& dataset) {
  auto first = std::make_shared<int64_t>(0);
  const bool whole = !dataset.hetero.empty() || dataset.splits_nodes();
  return [dataset, first, whole]() -> std::optional<PredictChunk> {
    if (*first >= dataset.num_graphs()) return std::nullopt;
    const int64_t count = std::min(kChunk, dataset.num_graphs() - *first);
    PredictChunk chunk;
    chunk.dataset = whole ? dataset : data::slice(dataset, *first, count);
    *first += count;
    return chunk;
  };
}

NextChunk read_tables(const Options& o, const data::DatasetInfo& info) {
  check_data(!info.columns.empty() || info.node_features == data::FeatureKind::kNone,
             "the network was trained on {}, which was not made of tables, so it takes none",
             info.name);
  data::CsvOptions csv = o.csv;
  csv.name = csv.nodes.string();
  csv.like = &info;
  data::CsvDataset built = data::build_csv(csv);
  for (size_t k = 0; k < built.gaps.size(); ++k)
    if (built.gaps[k].missing + built.gaps[k].unknown > 0)
      log_warning("column \"{}\": {} values are missing and {} unknown to the network",
                  built.dataset.info.columns[k].name, built.gaps[k].missing, built.gaps[k].unknown);
  auto chunk = std::make_shared<std::optional<PredictChunk>>(
      PredictChunk{std::move(built.dataset), true,
                   is_graph_task(info.task) ? std::move(built.graphs) : std::move(built.nodes)});
  return [chunk] { return std::exchange(*chunk, std::nullopt); };
}

NextChunk open_input(const Options& o, const CommonOptions& common, const data::DatasetInfo& info) {
  if (!o.csv.nodes.empty()) return read_tables(o, info);
  if (fs::is_regular_file(o.input)) return read_smiles(o, info);
  return read_in_slices(load_dataset(o.input, common));
}

}  // namespace

void add_predict(CLI::App& app, const CommonOptions& common) {
  auto o = std::make_shared<Options>();
  CLI::App* c = app.add_subcommand("predict", "Predictions of a model for unseen graphs or nodes");
  c->add_option("model", o->model, "A run directory or a model file")->required();
  c->add_option("input", o->input,
                "A dataset, or a file of SMILES (csv or tsv with column names, or one a line)");
  c->add_option("--nodes", o->csv.nodes, "Instead: tables as egc data build csv takes them");
  c->add_option("--edges", o->csv.edges, "The edges between these nodes");
  c->add_option("--id", o->csv.id, "Column of the node's id (default: id, or the first)");
  c->add_option("--graph-id", o->csv.graph_id, "Column that tells a node's graph");
  c->add_option("--out", o->out, "The file to write (default: stdout)");
  c->add_option("--format", o->format_name,
                "csv or jsonl (default: by the name of --out; csv, or jsonl with --json)")
      ->check(CLI::IsMember({"csv", "jsonl"}));
  c->add_option("--smiles-column", o->smiles_column, "Its column (default: smiles)");
  c->add_flag("--skip-bad", o->skip_bad, "Leave out what is no SMILES, and list it");
  c->add_option("--batch", o->batch, "Graphs at a time")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  c->footer("Example:\n  egc predict runs/molhiv-egc-m new_molecules.csv --out scores.csv");
  c->callback([o, &common] {
    check(o->csv.nodes.empty() == o->csv.edges.empty() && o->csv.nodes.empty() != o->input.empty(),
          "egc predict takes an input, or --nodes and --edges");
    const bool json = o->format_name.empty() ? common.json || o->out.ends_with(".jsonl")
                                             : o->format_name == "jsonl";
    o->format = json ? PredictFormat::kJsonLines : PredictFormat::kCsv;
    const int64_t rows = torch_module().predict(
        *o, [&](const data::DatasetInfo& info) { return open_input(*o, common, info); });
    if (o->out.empty()) return;
    if (common.json)
      fmt::print("{}\n", nlohmann::ordered_json{{"rows", rows}, {"out", o->out}}.dump());
    else
      fmt::print("{}: {} predictions\n", o->out, rows);
  });
}

}  // namespace egc::cli
