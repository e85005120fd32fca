// egc search: settings, or aggregators, that validation likes best.
#include "cli/search.h"

#include <fmt/format.h>

#include <cmath>

#include "cli/spell.h"
#include "cli/train_runs.h"
#include "egc/core/error.h"
#include "egc/core/json_parse.h"
#include "egc/core/text_file.h"
#include "egc/report/html.h"

namespace egc::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string spell(const Trial& t, double value) {
  return std::isnan(value) ? "-" : spell_score(t.metric, value);
}

}  // namespace

void add_search_options(CLI::App& c, SearchOptions& o) {
  c.add_option("dataset", o.trials.dataset, "A known or generated dataset, or a directory")
      ->required();
  c.add_option("--config", o.config, "What is not searched (default: the paper's)");
  c.add_option("--model", o.model, "Of the paper's configuration")->capture_default_str();
  c.add_option("--epochs", o.epochs, "At most, instead of the configuration's");
  c.add_option("--first-epochs", o.first_epochs, "After which halving first judges")
      ->check(CLI::Range(1, 1 << 30))
      ->capture_default_str();
  c.add_option("--factor", o.factor, "Of halving: one in so many goes on, for so many times longer")
      ->check(CLI::Range(2, 1000))
      ->capture_default_str();
  c.add_option("--jobs", o.trials.jobs, "Trainings at a time; they share the threads")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  c.add_option("--out", o.trials.out, "Where everything is kept; the same command goes on there")
      ->required();
}

Json base_config(const SearchOptions& o) {
  const std::string file =
      o.config.empty() ? published_config(o.trials.dataset, o.model) : o.config;
  check(!file.empty(), "the paper has no configuration of {} for {}; --config gives one", o.model,
        o.trials.dataset);
  Json config = parse_json<Json>(read_text_file(file, ErrorKind::kUsage), file, ErrorKind::kUsage);
  check(config.is_object() && config.value("model", Json()).is_object(),
        "{}: is no configuration: \"model\" is missing", file);
  config.erase("about");  // of a run's own
  config.erase("seed");
  if (o.epochs) config["train"]["epochs"] = *o.epochs;
  return config;
}

int64_t most_epochs(const Json& config) {
  constexpr int64_t kDefault = 200;  // TrainConfig's
  const auto train = config.find("train");
  if (train == config.end() || !train->is_object()) return kDefault;
  return train->value("epochs", kDefault);
}

void print_trials(const std::vector<Trial>& trials, const CommonOptions& common) {
  if (!common.json) fmt::print("{:<40} {:>7} {:>12} {:>12}\n", "", "epochs", "valid", "test");
  for (const Trial& t : trials) {
    if (common.json)
      fmt::print("{}\n", Json{{"trial", t.name},
                              {"seed", t.seed},
                              {"epochs", t.epochs},
                              {"metric", t.metric},
                              {"valid", t.valid},
                              {"test", t.test}}
                             .dump());
    else
      fmt::print("{:<40} {:>7} {:>12} {:>12}\n", t.name, t.epochs, spell(t, t.valid),
                 spell(t, t.test));
  }
}

std::string trials_as_html(const std::vector<Trial>& trials) {
  std::string out =
      "<div class=\"scroll\"><table><tr><th></th><th>epochs</th><th>valid</th><th>test</th></tr>\n";
  for (const Trial& t : trials)
    out += fmt::format("<tr><th>{}</th><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                       report::escape_html(t.name), t.epochs, spell(t, t.valid), spell(t, t.test));
  return out + "</table></div>\n";
}

void add_search(CLI::App& app, const CommonOptions& common) {
  CLI::App* search =
      app.add_subcommand("search", "Searches settings or aggregators, judged by validation");
  search->require_subcommand(1);
  search->fallthrough();
  search->footer("Example:\n  egc search aggregators zinc --choose 3 --out found");
  add_search_settings(*search, common);
  add_search_aggregators(*search, common);
}

}  // namespace egc::cli
