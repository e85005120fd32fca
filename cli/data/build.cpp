// egc data build: datasets from raw material.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/common.h"
#include "cli/data/build_module.h"
#include "cli/status_line.h"
#include "egc/core/error.h"
#include "egc/core/log.h"
#include "egc/data/build/build_code.h"
#include "egc/data/build/build_csv.h"
#include "egc/data/raw/write_dataset.h"

namespace egc::cli {
namespace {

namespace fs = std::filesystem;

// What all builders share.
struct Target {
  std::string out;
  std::string split = "0.8,0.1,0.1";

  void add_to(CLI::App& command) {
    command.add_option("--out", out, "Directory to create")->required();
    command
        .add_option("--split", split,
                    "Fractions of the training, validation and test set (images: only if there is "
                    "no test/ folder)")
        ->capture_default_str();
  }
  std::array<double, 3> fractions() const {
    std::array<double, 3> f{};
    char rest = 0;
    check(std::sscanf(split.c_str(), "%lf,%lf,%lf%c", &f[0], &f[1], &f[2], &rest) == 3,
          "--split must be three fractions, for instance 0.8,0.1,0.1, got {}", split);
    for (const double part : f)
      check(part >= 0 && part <= 1, "--split: each fraction must be in [0, 1], got {}", part);
    check(std::abs(f[0] + f[1] + f[2] - 1) < 1e-6,
          "--split: the fractions must add up to 1, got {}", split);
    return f;
  }
  std::string name() const {
    fs::path path(out);
    if (!path.has_filename()) path = path.parent_path();
    return path.filename().string();
  }
};

using Json = nlohmann::ordered_json;

// more: keys of one kind of builder.
void report(const data::Dataset& d, const Target& target, const CommonOptions& common,
            int64_t skipped = 0, const Json& more = Json::object()) {
  if (!common.json) {
    fmt::print("{}: {} graphs, {} nodes, {} edges, task {}\n", target.out, d.num_graphs(),
               d.num_nodes(), d.num_edges(), tasks().name_of(d.info.task));
    return;
  }
  Json line = {{"name", d.info.name},      {"task", tasks().name_of(d.info.task)},
               {"graphs", d.num_graphs()}, {"nodes", d.num_nodes()},
               {"edges", d.num_edges()},   {"skipped", skipped},
               {"path", target.out}};
  line.update(more);
  fmt::print("{}\n", line.dump(-1, ' ', false, Json::error_handler_t::replace));
}

// what: "column" or "edge column".
void warn_of_missing(const std::vector<data::FeatureColumn>& columns,
                     const std::vector<data::ColumnGaps>& gaps, const char* what) {
  for (size_t k = 0; k < gaps.size(); ++k)
    if (gaps[k].missing > 0)
      log_warning("{} \"{}\": {} missing values; {}", what, columns[k].name, gaps[k].missing,
                  columns[k].is_text
                      ? "they get no category"
                      : fmt::format("they are replaced by the mean, {:.6g}", columns[k].mean));
}

void warn_of_columns(const data::CsvDataset& built, const std::string& label) {
  for (const std::string& notice : built.notices) log_warning("{}", notice);
  warn_of_missing(built.dataset.info.columns, built.gaps, "column");
  warn_of_missing(built.dataset.info.edge_columns, built.edge_gaps, "edge column");
  if (built.missing_labels > 0)
    log_warning(
        "column \"{}\": {} missing labels; items without a label do not contribute to training or "
        "scores",
        label, built.missing_labels);
}

void print_columns(const std::vector<data::ColumnPlan>& plan, const char* what) {
  if (!plan.empty()) fmt::print("{:<20}  kind      missing  categories\n", what);
  for (const data::ColumnPlan& c : plan)
    fmt::print("{:<20}  {:<8}  {:>7}  {:>10}{}\n", c.name, data::column_kinds().name_of(c.kind),
               c.missing + std::ssize(c.odd_rows),
               c.kind == data::ColumnKind::kCategory ? std::to_string(c.categories) : "-",
               c.reason.empty() ? "" : "  " + c.reason);
}

// What became of each column.
void print_plan(const data::CsvDataset& built) {
  print_columns(built.plan, "column");
  print_columns(built.edge_plan, "edge column");
  if (const std::string& column = built.dataset.info.edge_weight; !column.empty())
    fmt::print("edge weights: column \"{}\"\n", column);
  const data::Split& split = built.dataset.splits.at(0);
  fmt::print("split {}: {} train, {} valid, {} test\n",
             built.split_column.empty() ? "at random"
                                        : fmt::format("by column \"{}\"", built.split_column),
             split.train.size(), split.valid.size(), split.test.size());
}

Json columns_as_json(const std::vector<data::ColumnPlan>& plan) {
  Json columns = Json::array();
  for (const data::ColumnPlan& c : plan) {
    Json column = {{"name", c.name},
                   {"kind", data::column_kinds().name_of(c.kind)},
                   {"missing", c.missing + std::ssize(c.odd_rows)}};
    if (c.kind == data::ColumnKind::kCategory) column["categories"] = c.categories;
    if (!c.reason.empty()) column["reason"] = c.reason;
    columns.push_back(std::move(column));
  }
  return columns;
}

Json plan_as_json(const data::CsvDataset& built) {
  return {{"columns", columns_as_json(built.plan)},
          {"edge_columns", columns_as_json(built.edge_plan)},
          {"edge_weight", built.dataset.info.edge_weight},
          {"split_column", built.split_column}};
}

void add_csv(CLI::App& build, const CommonOptions& common) {
  struct Options : Target {
    data::CsvOptions csv;
    std::string text = "onehot";
    std::string task;
    std::vector<std::string> columns;
  };
  auto o = std::make_shared<Options>();
  CLI::App* c = build.add_subcommand(
      "csv", "Build a dataset from CSV tables of nodes and edges with a header row");
  c->add_option("--edges", o->csv.edges,
                "Edge table; its columns source and target, or else the first two, hold node ids; "
                "the others are features")
      ->required();
  c->add_option(
      "--edge-weight", o->csv.edge_weight,
      "Column of the edge table with the weight of each edge (default: all weigh the same)");
  c->add_option("--nodes", o->csv.nodes, "Node table: an id column and feature columns")
      ->required();
  c->add_option("--label", o->csv.label, "Label column")->required();
  c->add_option("--id", o->csv.id, "Node id column (default: id, or else the first)");
  c->add_option("--graph-id", o->csv.graph_id,
                "Column with the id of a node's graph (default: all nodes form one graph)");
  c->add_option("--graphs", o->csv.graphs, "Graph table with the --graph-id and --label columns");
  c->add_option("--ignore", o->csv.ignore, "Columns of nodes or edges not to use as features")
      ->delimiter(',');
  c->add_option("--column", o->columns,
                "Kind of a column of nodes or edges: number, category or ignore, for instance "
                "--column zip=category (default: inferred from its values)");
  c->add_option("--split-column", o->csv.split,
                "Column that says train, valid or test for each row (default: split, if there is "
                "such a column)");
  c->add_option("--text", o->text, "Encoding of text columns of nodes: onehot or embed")
      ->capture_default_str();
  c->add_option("--task", o->task,
                "Task, for instance node-classification (default: inferred from the labels)");
  c->add_flag("--undirected", o->csv.undirected, "Use every edge in both directions");
  o->add_to(*c);
  c->footer(
      "Example:\n  egc data build csv --edges edges.csv --nodes nodes.csv --label class --out "
      "data/mine");
  c->callback([o, &common] {
    o->csv.text = data::text_feature_kinds().at(o->text);
    if (!o->task.empty()) o->csv.task = tasks().at(o->task);
    data::check_new_directory(o->out);  // before the work
    o->csv.fractions = o->fractions();
    o->csv.seed = common.seed;
    o->csv.name = o->name();
    for (const std::string& given : o->columns) {
      const size_t at = given.rfind('=');
      check(at != std::string::npos && at > 0,
            "--column takes name=kind, for instance zip=category, got {}", given);
      o->csv.columns[given.substr(0, at)] = data::column_kinds().at(given.substr(at + 1));
    }
    const data::CsvDataset built = data::build_csv(o->csv);
    warn_of_columns(built, o->csv.label);
    write_dataset(built.dataset, o->out);
    if (!common.json) print_plan(built);
    report(built.dataset, *o, common, /*skipped=*/0, plan_as_json(built));
  });
}

void add_molecules(CLI::App& build, const CommonOptions& common) {
  struct Options : Target {
    molecules::MoleculeOptions molecules;
    std::string features = "ogb";
    std::string by = "scaffold";
    std::string task;
  };
  auto o = std::make_shared<Options>();
  CLI::App* c = build.add_subcommand("molecules", "Build a dataset of molecules from SMILES");
  c->add_option("--smiles", o->molecules.smiles,
                "CSV or TSV file with a header row, or one SMILES per line")
      ->required();
  c->add_option("--smiles-column", o->molecules.smiles_column, "SMILES column (default: smiles)");
  c->add_option("--label", o->molecules.labels, "Label columns")->delimiter(',');
  c->add_flag("--zinc-target", o->molecules.zinc_target,
              "Compute ZINC's regression target instead of reading labels");
  c->add_option("--features", o->features, "Features of atoms and bonds: ogb or zinc")
      ->capture_default_str();
  c->add_option("--split-by", o->by, "How to split: scaffold or random")->capture_default_str();
  c->add_option("--task", o->task,
                "Task: graph-regression or graph-binary (default: inferred from the labels)");
  c->add_flag("--skip-bad", o->molecules.skip_bad, "Skip invalid SMILES, with a warning for each");
  o->add_to(*c);
  c->footer(
      "Example:\n  egc data build molecules --smiles assay.csv --label active --features ogb --out "
      "data/assay");
  c->callback([o, &common] {
    o->molecules.recipe = molecules::recipes().at(o->features);
    o->molecules.split = molecules::molecule_splits().at(o->by);
    if (!o->task.empty()) o->molecules.task = tasks().at(o->task);
    data::check_new_directory(o->out);  // before the work
    o->molecules.fractions = o->fractions();
    o->molecules.seed = common.seed;
    o->molecules.name = o->name();
    o->molecules.on_progress = status_line::counts("molecules", common.quiet);
    const status_line::Cleared cleared;
    std::vector<molecules::BadSmiles> bad;
    const data::Dataset d = build_module().build_molecules(o->molecules, bad);
    status_line::clear();
    for (const auto& b : bad)
      log_warning("{}:{}: skipped \"{}\": {}", o->molecules.smiles.string(), b.line,
                  b.smiles.substr(0, 80), b.reason);
    write_dataset(d, o->out);
    report(d, *o, common, static_cast<int64_t>(bad.size()));
  });
}

void add_images(CLI::App& build, const CommonOptions& common) {
  struct Options : Target {
    images::ImageOptions images;
  };
  auto o = std::make_shared<Options>();
  CLI::App* c = build.add_subcommand("images", "Build superpixel graphs from images");
  c->add_option("from", o->images.from,
                "Folder with CIFAR-10's binary batches, or with one folder of images per class")
      ->required();
  c->add_option("--superpixels", o->images.superpixels, "Max superpixels per image")
      ->check(CLI::Range(2, 1000))
      ->capture_default_str();
  o->add_to(*c);
  c->footer("Example:\n  egc data build images cifar-10-batches-bin --out data/superpixels");
  c->callback([o, &common] {
    data::check_new_directory(o->out);  // before the work
    o->images.fractions = o->fractions();
    o->images.seed = common.seed;
    o->images.name = o->name();
    o->images.on_progress = status_line::counts("images", common.quiet);
    const status_line::Cleared cleared;
    const data::Dataset d = build_module().build_images(o->images);
    status_line::clear();
    write_dataset(d, o->out);
    report(d, *o, common);
  });
}

void add_code(CLI::App& build, const CommonOptions& common) {
  struct Options : Target {
    data::CodeOptions code;
  };
  auto o = std::make_shared<Options>();
  CLI::App* c = build.add_subcommand("code",
                                     "Build a method-naming dataset from Python sources (needs "
                                     "python3; does not run the sources)");
  c->add_option("from", o->code.from, "Directory of Python sources")->required();
  c->add_option("--min-nodes", o->code.min_nodes, "Skip functions with fewer syntax-tree nodes")
      ->capture_default_str();
  c->add_option("--max-nodes", o->code.max_nodes, "Skip functions with more syntax-tree nodes")
      ->capture_default_str();
  o->add_to(*c);
  c->footer("Example:\n  egc data build code ~/projects --out data/code");
  c->callback([o, &common] {
    data::check_new_directory(o->out);  // before the work
    o->code.fractions = o->fractions();
    o->code.seed = common.seed;
    o->code.name = o->name();
    o->code.on_progress = status_line::counts("functions", common.quiet);
    const status_line::Cleared cleared;
    const data::CodeDataset built = data::build_code(o->code);
    status_line::clear();
    for (const auto& reason : built.skipped) log_warning("skipped {}", reason);
    data::create_directory_whole(o->out, [&](const fs::path& to) {
      write_dataset_files(built.dataset, to);
      data::write_words(to / "mapping" / "typeidx2type.csv.gz", "type", built.types);
      data::write_words(to / "mapping" / "attridx2attr.csv.gz", "attr", built.attributes);
    });
    report(built.dataset, *o, common, static_cast<int64_t>(built.skipped.size()));
  });
}

}  // namespace

void add_data_build(CLI::App& data, const CommonOptions& common) {
  CLI::App* build = data.add_subcommand("build", "Build a dataset from your own files");
  build->require_subcommand(1);
  build->fallthrough();
  build->footer(
      "Example:\n  egc data build csv --edges edges.csv --nodes nodes.csv --label class --out "
      "data/mine");
  add_csv(*build, common);
  add_molecules(*build, common);
  add_images(*build, common);
  add_code(*build, common);
}

}  // namespace egc::cli
