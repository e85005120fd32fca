// egc search: settings, or aggregators, that validation likes best.
#include "egc/app/search.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/common.h"
#include "cli/stop_signal.h"
#include "egc/core/statistics.h"
#include "egc/report/spell.h"

namespace egc::cli {
namespace {

using app::AggregatorSearchResult;
using app::Trial;
using report::spell_score;
using Json = nlohmann::ordered_json;

void add_search_options(CLI::App& c, app::SearchOptions& o) {
  c.add_option("dataset", o.trials.dataset, "Known or generated dataset, or a dataset directory")
      ->required();
  c.add_option("--config", o.config, "Configuration to start from (default: the paper's)");
  c.add_option("--model", o.model, "Model whose configuration in the paper to start from")
      ->capture_default_str();
  c.add_option("--epochs", o.epochs, "Max epochs, instead of the configuration's");
  c.add_option("--first-epochs", o.first_epochs, "Epochs before halving first drops trials")
      ->check(CLI::Range(1, 1 << 30))
      ->capture_default_str();
  c.add_option("--factor", o.factor,
               "Halving keeps one in this many trials and trains it this many times longer")
      ->check(CLI::Range(2, 1000))
      ->capture_default_str();
  c.add_option("--jobs", o.trials.jobs, "Training runs in parallel; they share the threads")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  c.add_option("--out", o.trials.out, "Directory of the search; the same command resumes it")
      ->required();
}

// Ends the program as interrupted where the search was stopped.
template <class F>
auto run_search(F&& search) {
  try {
    return search(watch_stop_signals());
  } catch (const app::SearchStopped&) {
    end_interrupted();
  }
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
      fmt::print("{:<40} {:>7} {:>12} {:>12}\n", t.name, t.epochs,
                 app::spell_trial_score(t, t.valid), app::spell_trial_score(t, t.test));
  }
}

void print_choice(const app::AggregatorChoice& r, const CommonOptions& common) {
  if (!r.tried.empty() && (!common.quiet || common.json)) print_trials(r.tried, common);
  for (const auto& [name, share] : r.shares)
    if (common.json)
      fmt::print("{}\n", Json{{"aggregator", name}, {"share", share}}.dump());
    else
      fmt::print("{:<10} {:5.1f} %\n", name, 100 * share);
  std::fflush(stdout);  // the finalists are trained next
}

void print_finals(const AggregatorSearchResult& r, const CommonOptions& common) {
  for (const app::AggregatorFinal& f : r.finals) {
    const Spread v = spread_of(f.valid);
    const Spread s = spread_of(f.test);
    if (common.json)
      fmt::print("{}\n", Json{{"summary", f.role},
                              {"aggregators", f.aggregators},
                              {"metric", r.metric},
                              {"seeds", s.count},
                              {"valid", v.mean},
                              {"valid_std", v.deviation},
                              {"test", s.mean},
                              {"test_std", s.deviation},
                              {"search_epochs", f.role == "chosen" ? r.search_epochs : 0}}
                             .dump());
    else
      fmt::print("{:<8} {:<24} valid {}  test {}  ({} seeds)\n", f.role,
                 fmt::format("{}", fmt::join(f.aggregators, ",")),
                 spell_score(r.metric, v.mean, v.deviation),
                 spell_score(r.metric, s.mean, s.deviation), s.count);
  }
  if (!common.json) fmt::print("{}\n{}\n", r.budget, r.report);
}

void add_search_settings(CLI::App& search, const CommonOptions& common) {
  auto o = std::make_shared<app::SettingsSearchOptions>();
  CLI::App* c = search.add_subcommand("settings",
                                      "Search hyperparameters: random, grid or successive halving");
  add_search_options(*c, *o);
  c->add_option("--space", o->space,
                "Search space: a JSON file, for instance {\"train.lr\": {\"log\": [1e-4, 1e-2]}}")
      ->required();
  c->add_option("--method", o->method,
                "random, grid, or halving (successive halving of random trials)")
      ->check(CLI::IsMember({"random", "grid", "halving"}))
      ->capture_default_str();
  c->add_option("--trials", o->count, "Number of random trials")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  c->footer("Example:\n  egc search settings zinc --model gcn --space space.json --out found");
  c->callback([o, &common] {
    const auto found =
        run_search([&](const auto* stop) { return app::search_settings(*o, common, stop); });
    print_trials(found.trials, common);
    if (!common.json) fmt::print("{}\n", found.best);
  });
}

void add_search_aggregators(CLI::App& search, const CommonOptions& common) {
  auto o = std::make_shared<app::AggregatorSearchOptions>();
  CLI::App* c = search.add_subcommand("aggregators", "Search for EGC's best set of aggregators");
  add_search_options(*c, *o);
  c->add_option("--choose", o->choose, "Number of aggregators to choose")
      ->check(CLI::Range(1, 7))
      ->capture_default_str();
  c->add_option("--method", o->method,
                "halving: successive halving of all sets; gates: train one network with all seven "
                "aggregators and prune it")
      ->check(CLI::IsMember({"halving", "gates"}))
      ->capture_default_str();
  c->add_option("--gate-epochs", o->gate_epochs,
                "With gates: epochs of the network with all seven aggregators")
      ->check(CLI::Range(1, 1 << 30))
      ->capture_default_str();
  c->add_option("--strength", o->strength, "With gates: strength of the penalty on aggregators")
      ->capture_default_str();
  c->add_option(
       "--seeds", o->seeds,
       "Training runs, with different seeds, of each finalist and of the configuration's own set")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  c->footer("Example:\n  egc search aggregators zinc --choose 3 --jobs 2 --out found");
  c->callback([o, &common] {
    const auto on_choice = [&](const auto& choice) { print_choice(choice, common); };
    print_finals(run_search([&](const auto* stop) {
                   return app::search_aggregators(*o, common, stop, on_choice);
                 }),
                 common);
  });
}

}  // namespace

void add_search(CLI::App& app, const CommonOptions& common) {
  CLI::App* search =
      app.add_subcommand("search", "Search hyperparameters or aggregators by validation score");
  search->require_subcommand(1);
  search->fallthrough();
  search->footer("Example:\n  egc search aggregators zinc --choose 3 --out found");
  add_search_settings(*search, common);
  add_search_aggregators(*search, common);
}

}  // namespace egc::cli
