// egc predict: what a model says of graphs it has not seen.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/common.h"
#include "cli/predict/model_argument.h"
#include "cli/predict/model_input.h"
#include "cli/status_line.h"
#include "egc/app/predict.h"

namespace egc::cli {
namespace {

struct PredictCommand : app::PredictOptions {
  ModelArgument model;
  ModelInputOptions input;
  std::string format_name;
};

}  // namespace

void add_predict(CLI::App& app, const CommonOptions& common) {
  auto o = std::make_shared<PredictCommand>();
  CLI::App* c = app.add_subcommand("predict", "Predict with a model for unseen graphs or nodes");
  add_model_argument(*c, o->model, /*may_be_several=*/true);
  add_model_input(*c, o->input);
  c->add_option("--out", o->out, "File to write (default: stdout)");
  c->add_option(
       "--format", o->format_name,
       "csv or jsonl (default: jsonl if --out ends with .jsonl or --json is given, else csv)")
      ->check(CLI::IsMember({"csv", "jsonl"}));
  c->add_option("--batch", o->batch, "Batch size, in graphs")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  c->footer("Example:\n  egc predict runs/molhiv-egc-m new_molecules.csv --out scores.csv");
  c->callback([o, &common] {
    check_model_input(o->input, "predict");
    o->models = find_models(o->model, common);
    const bool json = o->format_name.empty() ? common.json || o->out.ends_with(".jsonl")
                                             : o->format_name == "jsonl";
    o->format = json ? app::PredictFormat::kJsonLines : app::PredictFormat::kCsv;
    // Without a file predictions may scroll by on the same terminal, through a pipe too.
    if (!common.quiet && !o->out.empty())
      o->on_lines = [](int64_t lines) {
        status_line::show({fmt::format("{} predictions so far", lines)});
      };
    const status_line::Cleared cleared;
    const int64_t rows = app::predict(*o, [&](const data::DatasetInfo& info) {
      return open_model_input(o->input, options_for_data(o->model, common), info);
    });
    status_line::clear();
    if (o->out.empty()) return;
    if (common.json)
      fmt::print("{}\n", nlohmann::ordered_json{{"rows", rows}, {"out", o->out}}.dump());
    else
      fmt::print("{}: {} predictions\n", o->out, rows);
  });
}

}  // namespace egc::cli
