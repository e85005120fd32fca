// Hyperparameters of a space given as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "egc/app/search_common.h"
#include "egc/app/trial_settings.h"
#include "egc/core/atomic_file.h"
#include "egc/core/error.h"
#include "egc/core/text_file.h"
#include "egc/nn/conv_table.h"
#include "egc/report/html.h"
#include "egc/search/space.h"

namespace egc::app {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// Options that the layer does not take would make trials that differ in nothing.
void check_taken(const search::Space& space, const Json& base, const std::string& where) {
  const std::vector<std::string> names = space.names();
  if (std::find(names.begin(), names.end(), "model.model") != names.end()) return;
  const std::string layer = base.at("model").value("model", "egc-s");
  constexpr std::string_view kModel = "model.";
  for (const std::string& name : names) {
    if (!name.starts_with(kModel)) continue;
    const std::string option = name.substr(kModel.size());
    const auto& layers = nn::layer_table();
    if (std::none_of(layers.begin(), layers.end(),
                     [&](const nn::LayerDescriptor& t) { return t.takes(option); }))
      continue;
    try {
      nn::check_takes(layer, option, name);
    } catch (const Error& e) {
      fail(e.kind(), "{}: {}", where, e.what());
    }
  }
}

std::vector<Trial> make_trials(const SettingsSearchOptions& o, const Json& base, uint64_t seed) {
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
    Json config = base;
    config.merge_patch(point);
    t.config = config.dump();
    t.seed = seed;
    out.push_back(std::move(t));
  }
  return out;
}

}  // namespace

SettingsSearchResult search_settings(const SettingsSearchOptions& options, const Session& session,
                                     const volatile std::sig_atomic_t* stop) {
  SettingsSearchOptions o = options;
  o.trials.may_be_impossible = true;
  const Json base = base_config(o);
  const auto trials = make_trials(o, base, session.seed);
  Json plan = {{"settings", Json::array()}};
  for (const Trial& t : trials) plan["settings"].push_back(Json::parse(t.config));
  claim_directory(o, std::move(plan), session);
  const int64_t epochs = max_epochs(base);
  const auto rungs = search::halving_rungs(
      trials.size(), o.method == "halving" ? o.first_epochs : epochs, epochs, o.factor);
  SettingsSearchResult result{run_rungs(trials, rungs, o.trials, session, stop), ""};
  const auto& ranked = result.trials;
  check_found(ranked.front());
  const fs::path out(o.trials.out);
  result.best = (out / "best.json").string();
  const std::string best = Json::parse(ranked.front().config).dump(2);
  write_whole_file(result.best, best + "\n");
  write_whole_file(
      out / "report.html",
      report::html_page("Hyperparameter search on " + o.trials.dataset,
                        "<h2>Trials, best first</h2>\n" + trials_as_html(ranked) +
                            what_mattered(ranked) + "<h2>Best configuration</h2>\n<pre>" +
                            report::escape_html(best) + "</pre>\n"));
  return result;
}

}  // namespace egc::app
