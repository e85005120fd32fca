// egc search settings: hyperparameters of a space given as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "cli/search.h"
#include "cli/stop_signal.h"
#include "egc/core/atomic_file.h"
#include "egc/core/error.h"
#include "egc/core/layer_options.h"
#include "egc/core/text_file.h"
#include "egc/report/html.h"
#include "egc/search/space.h"

namespace egc::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct SettingsOptions : SearchOptions {
  std::string space;
  int64_t count = 20;
};

// Options that the layer does not take would make trials that differ in nothing.
void check_taken(const search::Space& space, const Json& base, const std::string& where) {
  const std::vector<std::string> names = space.names();
  if (std::find(names.begin(), names.end(), "model.model") != names.end()) return;
  const std::string layer = base.at("model").value("model", "egc-s");
  constexpr std::string_view kModel = "model.";
  for (const std::string& name : names) {
    if (!name.starts_with(kModel)) continue;
    const std::string option = name.substr(kModel.size());
    const auto& layers = layer_table();
    if (std::none_of(layers.begin(), layers.end(),
                     [&](const LayerTraits& t) { return t.takes(option); }))
      continue;
    try {
      check_takes(layer, option, name);
    } catch (const Error& e) {
      fail(e.kind(), "{}: {}", where, e.what());
    }
  }
}

std::vector<Trial> make_trials(const SettingsOptions& o, const Json& base, uint64_t seed) {
  const auto space = search::Space::parse(read_text_file(o.space, ErrorKind::kUsage), o.space);
  check_taken(space, base, o.space);
  std::vector<Json> points;
  if (o.method == "grid") points = space.grid();
  Rng rng(seed);
  while (o.method != "grid" && std::ssize(points) < o.count) points.push_back(space.sample(rng));
  std::vector<Trial> out;
  for (const Json& point : points) {
    Trial t;
    t.name = fmt::format("trial-{:04}", out.size());
    t.config = base;
    t.config.merge_patch(point);
    t.seed = seed;
    out.push_back(std::move(t));
  }
  return out;
}

void run(const SettingsOptions& o, const CommonOptions& common) {
  const Json base = base_config(o);
  const auto trials = make_trials(o, base, common.seed);
  Json plan = {{"settings", Json::array()}};
  for (const Trial& t : trials) plan["settings"].push_back(t.config);
  claim_directory(o, std::move(plan), common);
  const int64_t epochs = most_epochs(base);
  const auto rungs = search::halving_rungs(
      trials.size(), o.method == "halving" ? o.first_epochs : epochs, epochs, o.factor);
  const auto ranked = run_rungs(trials, rungs, o.trials, common, watch_stop_signals());
  check_found(ranked.front());
  const fs::path out(o.trials.out);
  write_whole_file(out / "best.json", ranked.front().config.dump(2) + "\n");
  write_whole_file(
      out / "report.html",
      report::html_page("Search of settings on " + o.trials.dataset,
                        "<h2>Best first</h2>\n" + trials_as_html(ranked) +
                            "<h2>The best configuration</h2>\n<pre>" +
                            report::escape_html(ranked.front().config.dump(2)) + "</pre>\n"));
  print_trials(ranked, common);
  if (!common.json) fmt::print("{}\n", (out / "best.json").string());
}

}  // namespace

void add_search_settings(CLI::App& search, const CommonOptions& common) {
  auto o = std::make_shared<SettingsOptions>();
  o->method = "halving";
  o->trials.may_be_impossible = true;
  CLI::App* c = search.add_subcommand("settings", "Hyperparameters: random, grid, or halving");
  add_search_options(*c, *o);
  c->add_option("--space", o->space,
                "A JSON file, for instance {\"train.lr\": {\"log\": [1e-4, 1e-2]}}")
      ->required();
  c->add_option("--method", o->method, "random, grid, or halving: random, then the best go on")
      ->check(CLI::IsMember({"random", "grid", "halving"}))
      ->capture_default_str();
  c->add_option("--trials", o->count, "Points that are drawn")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  c->footer("Example:\n  egc search settings zinc --model gcn --space space.json --out found");
  c->callback([o, &common] { run_search([&] { run(*o, common); }); });
}

}  // namespace egc::cli
