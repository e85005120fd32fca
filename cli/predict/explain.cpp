// egc explain: which aggregators, bases and heads carried what a model says.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/common.h"
#include "cli/predict/model_argument.h"
#include "cli/predict/model_input.h"
#include "egc/app/explain.h"
#include "egc/app/find_dataset.h"
#include "egc/core/error.h"

namespace egc::cli {
namespace {

using Json = nlohmann::ordered_json;

struct ExplainCommand : app::ExplainOptions {
  ModelArgument from;
  ModelInputOptions input;
};

// A part of a dataset's split needs the dataset whole.
app::NextChunk whole_dataset(const data::Dataset& dataset) {
  auto chunk = std::make_shared<std::optional<app::PredictChunk>>(app::PredictChunk());
  (*chunk)->dataset = dataset;
  return [chunk] { return std::exchange(*chunk, std::nullopt); };
}

Json named(const std::vector<std::string>& names, const std::vector<double>& shares) {
  Json out = Json::object();
  for (size_t k = 0; k < names.size(); ++k) out[names[k]] = shares[k];
  return out;
}

void print_shares_json(const app::ExplainResult& r) {
  for (size_t k = 0; k < r.layers.size(); ++k) {
    const app::ExplainLayer& layer = r.layers[k];
    fmt::print("{}\n", Json{{"layer", k + 1},
                            {"aggregators", named(r.aggregators, layer.aggregators)},
                            {"bases", layer.bases},
                            {"heads", layer.heads}}
                           .dump());
  }
  fmt::print(
      "{}\n",
      Json{{"summary", true}, {"nodes", r.nodes}, {"aggregators", named(r.aggregators, r.all)}}
          .dump());
}

void print_shares(const app::ExplainResult& r) {
  fmt::print("share of the output in %, mean over {} nodes\n", r.nodes);
  fmt::print("  layer  {} | bases | heads\n", fmt::join(r.aggregators, ", "));
  const auto percent = [](const std::vector<double>& shares) {
    std::string out;
    for (const double s : shares) out += fmt::format(" {:5.1f}", 100 * s);
    return out;
  };
  for (size_t k = 0; k < r.layers.size(); ++k)
    fmt::print("  {:>5} {}  |{}  |{}\n", k + 1, percent(r.layers[k].aggregators),
               percent(r.layers[k].bases), percent(r.layers[k].heads));
  fmt::print("    all {}\n", percent(r.all));
}

}  // namespace

void add_explain(CLI::App& app, const CommonOptions& common) {
  auto o = std::make_shared<ExplainCommand>();
  CLI::App* c = app.add_subcommand("explain",
                                   "Show how much each aggregator, basis and head of EGC "
                                   "contributes to the output of each node");
  add_model_argument(*c, o->from, /*may_be_several=*/false);
  add_model_input(*c, o->input);
  c->add_option("--part", o->part, "Only this set of the dataset's split: train, valid or test")
      ->check(CLI::IsMember({"train", "valid", "test"}));
  c->add_option("--out", o->out, "Directory for nodes.csv and report.html");
  c->add_option("--pictures", o->pictures, "Number of graphs drawn in report.html")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
  c->footer("Example:\n  egc explain runs/zinc-egc-m zinc --part valid --out explained");
  c->callback([o, &common] {
    check_model_input(o->input, "explain");
    o->model = find_models(o->from, common).front();
    check(o->part.empty() || o->input.csv.nodes.empty(),
          "--part needs a dataset; it does not apply to --nodes and --edges");
    const app::ExplainResult r = app::explain(*o, [&](const data::DatasetInfo& info) {
      const CommonOptions of_data = options_for_data(o->from, common);
      return o->part.empty() ? open_model_input(o->input, of_data, info)
                             : whole_dataset(app::load_dataset(o->input.input, of_data));
    });
    common.json ? print_shares_json(r) : print_shares(r);
    if (!o->out.empty() && !common.json)
      fmt::print("{}\n", (std::filesystem::path(o->out) / "report.html").string());
  });
}

}  // namespace egc::cli
