// egc reproduce: the paper's tables, run here, ours beside the paper's.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "cli/common.h"
#include "cli/stop_signal.h"
#include "egc/app/find_dataset.h"
#include "egc/app/paper_tables.h"
#include "egc/app/reproduce_cells.h"
#include "egc/core/atomic_file.h"
#include "egc/core/claim_file.h"
#include "egc/core/error.h"
#include "egc/core/log.h"
#include "egc/core/parallel.h"
#include "egc/reproduce/comparison.h"
#include "egc/reproduce/render.h"

namespace egc::cli {
namespace {

namespace fs = std::filesystem;
using app::ReproduceOptions;
using reproduce::Cell;
using reproduce::Table;

constexpr const char* kMain = "main";

struct Command {
  std::string table;
  std::vector<std::string> patterns;
  std::vector<std::string> use;
  ReproduceOptions run;
  bool show = false;
  bool markdown = false;
};

void list_tables(const CommonOptions& common) {
  for (const std::string& name : app::table_names()) {
    const std::string title = app::read_table(name).title;
    if (common.json)
      fmt::print("{}\n", nlohmann::ordered_json{{"table", name}, {"title", title}}.dump());
    else
      fmt::print("{:<20} {}\n", name, title);
  }
}

std::vector<const Cell*> chosen_cells(const Table& table,
                                      const std::vector<std::string>& patterns) {
  std::vector<const Cell*> out;
  for (const Cell& cell : table.cells)
    if (patterns.empty() ||
        std::any_of(patterns.begin(), patterns.end(),
                    [&](const std::string& p) { return reproduce::matches(cell, p); }))
      out.push_back(&cell);
  std::vector<std::string> known;
  for (const Cell& cell : table.cells) known.push_back(cell.name());
  for (const std::string& pattern : patterns)
    check(std::any_of(out.begin(), out.end(),
                      [&](const Cell* cell) { return reproduce::matches(*cell, pattern); }),
          "table {} has no cell {}; its cells: {}", table.name, pattern, fmt::join(known, ", "));
  return out;
}

std::vector<const Cell*> all_cells(const Table& table) { return chosen_cells(table, {}); }

bool has_dataset(const Table& table, const std::string& dataset) {
  return std::any_of(table.cells.begin(), table.cells.end(),
                     [&](const Cell& cell) { return cell.dataset == dataset; });
}

reproduce::FilledCell filled_cell(const Table& table, const Cell& cell, const ReproduceOptions& o,
                                  uint64_t first_seed) {
  const reproduce::CellDirectory dir(o.out, table, cell, o.change);
  if (!cell.config.empty()) dir.check_config(app::cell_config(table, cell, o.change));
  return {&cell, reproduce::results_of(dir, table, cell, first_seed, o.seeds)};
}

std::vector<reproduce::TableBlock> compared(const Table& table,
                                            const std::vector<const Cell*>& cells,
                                            const std::map<std::string, std::string>& missing,
                                            const ReproduceOptions& o, uint64_t first_seed) {
  std::vector<reproduce::FilledCell> filled;
  for (const Cell* cell : cells) filled.push_back(filled_cell(table, *cell, o, first_seed));
  return reproduce::compare(table, filled, missing, o.change);
}

// Everything that there is of the cells. What cannot be read is left out, for others are shown too.
std::vector<reproduce::TableBlock> compared_as_far_as_there(const Table& table,
                                                            const std::vector<const Cell*>& cells,
                                                            ReproduceOptions o,
                                                            const CommonOptions& common) {
  o.seeds.reset();
  std::vector<reproduce::FilledCell> filled;
  for (const Cell* cell : cells) try {
      filled.push_back(filled_cell(table, *cell, o, 0));
    } catch (const Error& e) {
      log_warning("{} is left out of the page: {}", cell->name(), e.what());
      filled.push_back({cell, {}});
    }
  return reproduce::compare(table, filled, app::missing_datasets(table, cells, o, common),
                            o.change);
}

// Of the whole table, whichever of its cells were asked for.
void write_page(const Table& table, const ReproduceOptions& o, const CommonOptions& common) {
  std::vector<reproduce::TableBlock> scores;
  if (table.measure == reproduce::Measure::kEpoch) {
    const Table main = app::read_table(kMain);
    std::vector<const Cell*> cells = all_cells(main);
    std::erase_if(cells, [&](const Cell* cell) { return !has_dataset(table, cell->dataset); });
    scores = compared_as_far_as_there(main, cells, o, common);
  }
  const auto groups = compared_as_far_as_there(table, all_cells(table), o, common);
  const fs::path dir = fs::path(o.out) / table.name;
  make_directories(dir);
  const fs::path page = dir / o.change.page_name();
  write_whole_file(page, reproduce::to_html(table, groups, scores));
  if (!common.json) fmt::print("\n{}\n", page.string());
}

std::map<std::string, std::string> stand_ins(const Table& table,
                                             const std::vector<std::string>& uses) {
  std::map<std::string, std::string> out;
  for (const std::string& use : uses) {
    const size_t equals = use.find('=');
    check(equals != std::string::npos && equals > 0 && equals + 1 < use.size(),
          "--use takes DATASET=REPLACEMENT, got {}", use);
    const std::string dataset = use.substr(0, equals);
    check(has_dataset(table, dataset), "--use {}: table {} has no dataset {}", use, table.name,
          dataset);
    const fs::path instead(use.substr(equals + 1));
    out[dataset] = fs::exists(instead) ? fs::canonical(instead).string() : instead.string();
  }
  return out;
}

bool is_here(const std::string& dataset, const CommonOptions& common) {
  try {
    app::dataset_directory(dataset, common);
    return true;
  } catch (const Error&) {
    return false;
  }
}

// The first failure, where there was one: what the other cells gave is shown all the same.
std::optional<Error> run_cells(const Table& table, const std::vector<const Cell*>& cells,
                               const std::map<std::string, std::string>& missing,
                               const ReproduceOptions& o, const CommonOptions& common) {
  if (std::all_of(cells.begin(), cells.end(),
                  [&](const Cell* cell) { return missing.contains(cell->dataset); }))
    return Error(ErrorKind::kData, missing.begin()->second);
  try {
    if (app::run_missing_cells(table, cells, missing, o, common, watch_stop_signals()))
      return std::nullopt;
  } catch (const Error& e) {
    return e;
  }
  end_interrupted();
}

void reproduce_table(Command c, const CommonOptions& common) {
  const Table table = app::read_table(c.table);
  const auto cells = chosen_cells(table, c.patterns);
  c.run.change.stand_ins = stand_ins(table, c.use);
  for (const auto& [dataset, instead] : table.generated)
    if (!is_here(dataset, common)) c.run.change.stand_ins.try_emplace(dataset, instead);
  c.run.change.threads = num_threads();
  if (!c.show && !c.run.seeds) c.run.seeds = 1;
  const auto missing = app::missing_datasets(table, cells, c.run, common);
  const auto failure = c.show ? std::nullopt : run_cells(table, cells, missing, c.run, common);
  const auto groups = compared(table, cells, missing, c.run, common.seed);
  const auto render = common.json  ? reproduce::to_json_lines
                      : c.markdown ? reproduce::to_markdown
                                   : reproduce::to_text;
  fmt::print("{}", render(table, groups));
  std::fflush(stdout);
  write_page(table, c.run, common);
  if (failure) throw Error(*failure);
}

}  // namespace

void add_reproduce(CLI::App& app, const CommonOptions& common) {
  auto o = std::make_shared<Command>();
  CLI::App* c = app.add_subcommand(
      "reproduce", "Reproduce a table of the paper and show it beside the published figures");
  c->add_option("table", o->table, "Table to reproduce (default: list the tables)");
  c->add_option("--cell", o->patterns,
                "Cells to run: dataset/row, or a pattern such as 'zinc/*' (default: all)");
  c->add_option("--seeds", o->run.seeds,
                "Number of training runs per cell, with consecutive seeds from --seed (default: 1; "
                "with --show, all)")
      ->check(CLI::Range(1, 10000));
  c->add_option("--epochs", o->run.change.epochs, "Max epochs, instead of the paper's")
      ->check(CLI::Range(1, 1 << 30));
  c->add_option("--use", o->use, "DATASET=REPLACEMENT: use another dataset in place of one");
  c->add_option("--jobs", o->run.jobs, "Training runs in parallel; they share the threads")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  c->add_option("--reps", o->run.reps, "Rounds of a benchmark; the median is reported")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  c->add_option("--out", o->run.out,
                "Directory of runs and records; finished ones are not run again")
      ->capture_default_str();
  c->add_flag("--show", o->show, "Show existing results without running anything");
  c->add_flag("--markdown", o->markdown, "Print the table as Markdown");
  c->footer("Example:\n  egc reproduce main --cell zinc/egc-m --seeds 3 --jobs 2");
  c->callback(
      [o, &common] { o->table.empty() ? list_tables(common) : reproduce_table(*o, common); });
}

}  // namespace egc::cli
