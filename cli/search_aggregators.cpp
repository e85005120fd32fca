// egc search aggregators: which of the seven EGC-M should have. By validation alone.
//
// halving: all sets train a few epochs, the best go on.
// gates: one network with all seven and a penalty on those it can do without; those that carry most
// of its output on the valid part are taken.
// Either choice is then trained with several seeds, beside the configuration's own.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>

#include "cli/child_jobs.h"
#include "cli/search.h"
#include "cli/spell.h"
#include "cli/stop_signal.h"
#include "egc/core/atomic_file.h"
#include "egc/core/error.h"
#include "egc/core/json_parse.h"
#include "egc/core/statistics.h"
#include "egc/kernels/aggregator.h"
#include "egc/report/html.h"
#include "egc/search/space.h"

namespace egc::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Names = std::vector<std::string>;

struct Options : SearchOptions {
  int64_t choose = 3;
  int64_t seeds = 3;
  int64_t gate_epochs = 40;
  double strength = 0.01;
};

// What was found, and what it took.
struct Choice {
  Names aggregators;
  int64_t epochs = 0;  // of training, in all
  std::string how;     // HTML
};

Names all_aggregators() {
  Names out;
  for (int k = 0; k < kNumAggregators; ++k) out.emplace_back(name_of(static_cast<Aggregator>(k)));
  return out;
}

Trial trial_of(const std::string& name, Json config, const Names& aggregators, uint64_t seed) {
  Trial t;
  t.name = name;
  t.config = std::move(config);
  t.config["model"]["aggregators"] = aggregators;
  t.seed = seed;
  return t;
}

class AggregatorSearch {
 public:
  AggregatorSearch(const Options& options, const CommonOptions& common)
      : o_(options),
        common_(common),
        stop_(watch_stop_signals()),
        base_(base_config(options)),
        epochs_(most_epochs(base_)) {
    const Json given = base_["model"].value("aggregators", Json::array());
    check(given.is_array() && std::all_of(given.begin(), given.end(),
                                          [](const Json& name) { return name.is_string(); }),
          "\"aggregators\" of the configuration must be a list of names");
    by_hand_ = given.get<Names>();
    claim_directory(o_,
                    {{"aggregators", base_},
                     {"choose", o_.choose},
                     {"gate_epochs", o_.gate_epochs},
                     {"strength", o_.strength}},
                    common.seed);
  }

  void run() {
    const Choice choice = o_.method == "halving" ? by_halving() : by_gates();
    std::vector<Trial> finals;
    for (int64_t k = 0; k < o_.seeds; ++k) {
      const uint64_t seed = common_.seed + static_cast<uint64_t>(k);
      finals.push_back(
          trial_of(fmt::format("chosen-seed-{}", seed), base_, choice.aggregators, seed));
      if (is_other(choice.aggregators))
        finals.push_back(trial_of(fmt::format("by-hand-seed-{}", seed), base_, by_hand_, seed));
    }
    finals = run_rungs(finals, {{epochs_, finals.size(), true}}, o_.trials, common_, stop_);
    const fs::path out(o_.trials.out);
    write_whole_file(out / "best.json",
                     trial_of("", base_, choice.aggregators, 0).config.dump(2) + "\n");
    show(choice, finals);
  }

 private:
  bool is_other(const Names& chosen) const {
    return !by_hand_.empty() &&
           !std::is_permutation(chosen.begin(), chosen.end(), by_hand_.begin(), by_hand_.end());
  }

  Choice by_halving() {
    std::vector<Trial> trials;
    for (const Names& set : search::subsets(all_aggregators(), static_cast<size_t>(o_.choose)))
      trials.push_back(trial_of(fmt::format("{}", fmt::join(set, "-")), base_, set, common_.seed));
    auto rungs = search::halving_rungs(trials.size(), o_.first_epochs, epochs_, o_.factor);
    // The last one is trained with all seeds instead.
    while (rungs.size() > 1 && rungs.back().trials == 1) rungs.pop_back();
    const auto ranked = run_rungs(trials, rungs, o_.trials, common_, stop_);
    check_found(ranked.front());
    Choice out;
    out.aggregators = ranked.front().config.at("model").at("aggregators").get<Names>();
    for (const Trial& t : ranked) out.epochs += t.epochs;
    out.how = "<h2>What was tried, best first</h2>\n" + trials_as_html(ranked);
    if (!common_.quiet || common_.json) print_trials(ranked, common_);
    return out;
  }

  Choice by_gates() {
    Trial all = trial_of("all-seven", base_, all_aggregators(), common_.seed);
    all.config["train"]["aggregator_sparsity"] = o_.strength;
    all.config["train"]["epochs"] = o_.gate_epochs;
    const auto trained = run_rungs({all}, {{o_.gate_epochs, 1, true}}, o_.trials, common_, stop_);
    check_found(trained.front());
    const auto shares = shares_of(fs::path(o_.trials.out) / all.name / "run");
    Choice out;
    out.epochs = trained.front().epochs;
    out.how = "<h2>What carried the output of all seven</h2>\n<table>\n";
    for (size_t k = 0; k < shares.size(); ++k) {
      if (std::ssize(out.aggregators) < o_.choose) out.aggregators.push_back(shares[k].first);
      out.how += fmt::format("<tr><th>{}</th><td>{:.1f} %</td></tr>\n", shares[k].first,
                             100 * shares[k].second);
      if (common_.json)
        fmt::print("{}\n",
                   Json{{"aggregator", shares[k].first}, {"share", shares[k].second}}.dump());
      else
        fmt::print("{:<10} {:5.1f} %\n", shares[k].first, 100 * shares[k].second);
    }
    out.how += "</table>\n";
    return out;
  }

  // Largest first.
  std::vector<std::pair<std::string, double>> shares_of(const fs::path& run) const {
    std::vector<std::pair<std::string, double>> out;
    ChildJobs jobs;
    jobs.stop = stop_;
    jobs.commands = {{"explain", run.string(), o_.trials.dataset, "--part", "valid"}};
    for (const std::string& a : child_arguments(common_, threads_of_child(1, 1)))
      jobs.commands.back().push_back(a);
    jobs.on_line = [&](size_t, std::string_view line) {
      const Json json = parse_json<Json>(line, "egc explain", ErrorKind::kSystem);
      if (!json.contains("summary")) return;
      for (const auto& [name, share] : json.at("aggregators").items())
        out.emplace_back(name, share.get<double>());
    };
    const int code = run_jobs(jobs).front();
    if (*stop_ != 0) throw SearchStopped();
    if (code != 0) throw error_of_child("egc explain", code);
    std::stable_sort(out.begin(), out.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    return out;
  }

  void show(const Choice& choice, const std::vector<Trial>& finals) const {
    const std::string what = fmt::format("{}", fmt::join(choice.aggregators, ", "));
    std::string table =
        "<div class=\"scroll\"><table><tr><th></th><th>aggregators</th><th>valid</th>"
        "<th>test</th></tr>\n";
    for (const char* name : {"chosen", "by-hand"}) {
      std::vector<double> valid;
      std::vector<double> test;
      std::string metric;
      for (const Trial& t : finals) {
        if (!t.name.starts_with(name)) continue;
        valid.push_back(t.valid);
        test.push_back(t.test);
        metric = t.metric;
      }
      if (test.empty()) continue;
      const Names& set = name == std::string("chosen") ? choice.aggregators : by_hand_;
      const Spread v = spread_of(valid);
      const Spread s = spread_of(test);
      if (common_.json)
        fmt::print("{}\n",
                   Json{{"summary", name},
                        {"aggregators", set},
                        {"metric", metric},
                        {"seeds", s.count},
                        {"valid", v.mean},
                        {"valid_std", v.deviation},
                        {"test", s.mean},
                        {"test_std", s.deviation},
                        {"search_epochs", name == std::string("chosen") ? choice.epochs : 0}}
                       .dump());
      else
        fmt::print("{:<8} {:<24} valid {}  test {}  ({} seeds)\n", name,
                   fmt::format("{}", fmt::join(set, ",")), spell_score(metric, v.mean, v.deviation),
                   spell_score(metric, s.mean, s.deviation), s.count);
      table += fmt::format("<tr><th>{}</th><td>{}</td><td>{}</td><td>{}</td></tr>\n", name,
                           fmt::join(set, ", "), spell_score(metric, v.mean, v.deviation),
                           spell_score(metric, s.mean, s.deviation));
    }
    const std::string budget = fmt::format(
        "{} of training took the search, with one seed; then {} seeds, up to {} epochs each",
        fmt::format("{} epochs", choice.epochs), o_.seeds, epochs_);
    write_whole_file(
        fs::path(o_.trials.out) / "report.html",
        report::html_page(
            fmt::format("Aggregators for {}: {}", o_.trials.dataset, what),
            fmt::format("<p>{}</p>\n{}</table></div>\n{}<h2>Trainings</h2>\n{}",
                        report::escape_html(budget), table, choice.how, trials_as_html(finals))));
    if (!common_.json)
      fmt::print("{}\n{}\n", budget, (fs::path(o_.trials.out) / "report.html").string());
  }

  const Options& o_;
  const CommonOptions& common_;
  const volatile std::sig_atomic_t* stop_;
  Json base_;
  int64_t epochs_;
  Names by_hand_;
};

}  // namespace

void add_search_aggregators(CLI::App& search, const CommonOptions& common) {
  auto o = std::make_shared<Options>();
  o->method = "halving";
  CLI::App* c = search.add_subcommand("aggregators", "Which of the seven EGC should have");
  add_search_options(*c, *o);
  c->add_option("--choose", o->choose, "How many")->check(CLI::Range(1, 7))->capture_default_str();
  c->add_option("--method", o->method,
                "halving: all sets, the best go on; gates: one network with all seven, pruned")
      ->check(CLI::IsMember({"halving", "gates"}))
      ->capture_default_str();
  c->add_option("--gate-epochs", o->gate_epochs, "Of the network with all seven")
      ->check(CLI::Range(1, 1 << 30))
      ->capture_default_str();
  c->add_option("--strength", o->strength, "Of the penalty on aggregators, with gates")
      ->capture_default_str();
  c->add_option("--seeds", o->seeds, "Trainings of the choice, beside the configuration's own")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  c->footer("Example:\n  egc search aggregators zinc --choose 3 --jobs 2 --out found");
  c->callback([o, &common] { run_search([&] { AggregatorSearch(*o, common).run(); }); });
}

}  // namespace egc::cli
