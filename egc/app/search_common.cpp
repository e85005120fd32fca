#include "egc/app/search_common.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "egc/app/begin_runs.h"
#include "egc/app/find_dataset.h"
#include "egc/app/trial_settings.h"
#include "egc/core/claim_file.h"
#include "egc/core/error.h"
#include "egc/core/json_parse.h"
#include "egc/report/html.h"
#include "egc/report/spell.h"

namespace egc::app {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string spell_trial_score(const Trial& t, double value) {
  return std::isnan(value) ? "-" : report::spell_score(t.metric, value);
}

Json base_config(const SearchOptions& o) {
  const std::string file =
      o.config.empty() ? published_config(o.trials.dataset, o.model) : o.config;
  check(!file.empty(), "the paper has no configuration of {} for {}; give one with --config",
        o.model, o.trials.dataset);
  Json config = read_json_file<Json>(file, ErrorKind::kUsage);
  const auto is_object = [&](const char* key) {
    return config.find(key) != config.end() && config[key].is_object();
  };
  check(config.is_object() && is_object("model"), "{}: not a configuration: \"model\" is missing",
        file);
  check(is_object("train") || !config.contains("train"), "{}: \"train\" must be an object", file);
  config.erase("about");  // of a run's own
  const fs::path path(o.trials.dataset);
  std::error_code ignored;
  config["dataset"] = fs::exists(path, ignored) ? fs::canonical(path).string() : o.trials.dataset;
  if (o.epochs) config["train"]["epochs"] = *o.epochs;
  if (!config["train"].contains("epochs")) config["train"]["epochs"] = 200;
  check(config["train"]["epochs"].is_number_integer() && config["train"]["epochs"] >= 1,
        "{}: \"epochs\" must be an integer of at least 1", file);
  return config;
}

int64_t max_epochs(const Json& config) { return config.at("train").at("epochs").get<int64_t>(); }

void claim_directory(const SearchOptions& o, Json plan, const Session& session) {
  dataset_directory(o.trials.dataset, session);  // a misspelt one leaves nothing behind
  plan.update({{"method", o.method},
               {"seed", session.seed},
               {"first_epochs", o.first_epochs},
               {"factor", o.factor}});
  claim_file(fs::path(o.trials.out) / "search.json", plan.dump(2) + "\n",
             "contains another search, see its search.json; choose another --out");
}

void check_found(const Trial& best) {
  if (std::isnan(best.valid))
    fail(ErrorKind::kVerification,
         "no trial has a score: each was invalid, or its loss became NaN");
}

std::string trials_as_html(const std::vector<Trial>& trials) {
  const std::vector<TrialSetting> settings = differing_settings(trials);
  std::string out =
      "<div class=\"scroll\"><table><tr><th></th><th>epochs</th><th>validation</th><th>test</th>";
  for (const TrialSetting& s : settings) out += "<th>" + report::escape_html(s.name) + "</th>";
  out += "</tr>\n";
  for (size_t k = 0; k < trials.size(); ++k) {
    const Trial& t = trials[k];
    out +=
        fmt::format("<tr><th>{}</th><td>{}</td><td>{}</td><td>{}</td>", report::escape_html(t.name),
                    t.epochs, spell_trial_score(t, t.valid), spell_trial_score(t, t.test));
    for (const TrialSetting& s : settings)
      out += "<td>" + report::escape_html(s.values[k]) + "</td>";
    out += "</tr>\n";
  }
  return out + "</table></div>\n";
}

}  // namespace egc::app
