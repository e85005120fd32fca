// Which of the seven EGC-M should have. By validation alone.
//
// halving: all sets train a few epochs, the best go on; the last of them are finalists. After the
// first epochs, where chance decides much, sets that share aggregators vouch for each other.
// gates: one network with all seven and a penalty on those it can do without; those that carry most
// of its output on the validation set are the only finalist.
// Finalists are trained with several seeds, beside the configuration's own set; of the finalists
// the one with the best mean on the validation set is chosen. best.json keeps the configuration's
// own where that is better still.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "egc/app/child_jobs.h"
#include "egc/app/search_common.h"
#include "egc/core/atomic_file.h"
#include "egc/core/error.h"
#include "egc/core/json_parse.h"
#include "egc/core/log.h"
#include "egc/core/statistics.h"
#include "egc/kernels/aggregator.h"
#include "egc/nn/conv_table.h"
#include "egc/report/html.h"
#include "egc/report/spell.h"
#include "egc/search/ranks.h"
#include "egc/search/space.h"

namespace egc::app {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Names = std::vector<std::string>;

// What was found, and what it took.
struct Found : AggregatorChoice {
  std::vector<Names> finalists;
  int64_t epochs = 0;  // of training, without the finalists'
  std::string how;     // HTML
};

using Final = AggregatorFinal;

Names all_aggregators() {
  Names out;
  for (int k = 0; k < kNumAggregators; ++k) out.emplace_back(name_of(static_cast<Aggregator>(k)));
  return out;
}

Names aggregators_of(const Trial& trial) {
  return Json::parse(trial.config).at("model").at("aggregators").get<Names>();
}

Trial trial_of(const std::string& name, Json config, const Names& aggregators, uint64_t seed) {
  Trial t;
  t.name = name;
  config["model"]["aggregators"] = aggregators;
  t.config = config.dump();
  t.seed = seed;
  return t;
}

class AggregatorSearch {
 public:
  AggregatorSearch(const AggregatorSearchOptions& options, const Session& session,
                   const volatile std::sig_atomic_t* stop)
      : o_(options),
        session_(session),
        stop_(stop),
        base_(base_config(options)),
        epochs_(max_epochs(base_)) {
    const std::string model = base_["model"].value("model", "egc-s");
    std::vector<std::string_view> choosers;  // layers that take any set of aggregators
    for (const nn::LayerDescriptor& layer : nn::layer_table())
      if (layer.takes("aggregators") && layer.takes("bases")) choosers.push_back(layer.name);
    check(std::find(choosers.begin(), choosers.end(), model) != choosers.end(),
          "model {} has no aggregators to choose from; use one of {}", model,
          fmt::join(choosers, ", "));
    const Json given = base_["model"].value("aggregators", Json::array());
    check(given.is_array() && std::all_of(given.begin(), given.end(),
                                          [](const Json& name) { return name.is_string(); }),
          "\"aggregators\" in the configuration must be a list of names");
    if (!given.empty())
      for (const Aggregator a : parse_aggregators(given.get<Names>()))
        by_hand_.emplace_back(name_of(a));
    claim_directory(o_,
                    {{"aggregators", base_},
                     {"choose", o_.choose},
                     {"gate_epochs", o_.gate_epochs},
                     {"strength", o_.strength}},
                    session);
  }

  AggregatorSearchResult run(const std::function<void(const AggregatorChoice&)>& on_choice) {
    const Found found = o_.method == "halving" ? by_halving() : by_gates();
    if (on_choice) on_choice(found);
    std::vector<Names> sets = found.finalists;
    if (!by_hand_.empty() && index_of(by_hand_, sets) == sets.size()) sets.push_back(by_hand_);
    std::vector<Trial> trials;
    for (int64_t k = 0; k < o_.seeds; ++k)
      for (const Names& set : sets)
        trials.push_back(trial_of_set(set, session_.seed + static_cast<uint64_t>(k)));
    trials = run_rungs(trials, {{epochs_, trials.size(), true}}, o_.trials, session_, stop_);
    std::vector<Final> finals(sets.size());
    for (size_t k = 0; k < sets.size(); ++k) finals[k].aggregators = sets[k];
    for (const Trial& t : trials) {
      Final& f = finals[index_of(aggregators_of(t), sets)];
      f.valid.push_back(t.valid);
      f.test.push_back(t.test);
      f.epochs += t.epochs;
    }
    const std::string& metric = trials.front().metric;  // the best has one, if any has
    Scores scores{{}, metric == "mae"};
    for (const Final& f : finals) scores.valid.push_back(spread_of(f.valid).mean);
    const auto order = by_validation(scores);
    const size_t chosen = *std::find_if(order.begin(), order.end(),
                                        [&](size_t k) { return k < found.finalists.size(); });
    if (std::isnan(scores.valid[chosen]))
      fail(ErrorKind::kVerification, "every finalist has a seed whose loss became NaN");
    write_whole_file(
        fs::path(o_.trials.out) / "best.json",
        Json::parse(trial_of("", base_, sets[order.front()], 0).config).dump(2) + "\n");
    AggregatorSearchResult result = describe(found, finals, chosen, metric, trials);
    if (order.front() != chosen)
      log_info(
          "the configuration's own set of aggregators scores better on the validation set: "
          "best.json keeps it");
    return result;
  }

 private:
  // Finalists have names like all others, so they go on where halving left them.
  Trial trial_of_set(const Names& set, uint64_t seed) const {
    std::string name = fmt::format("{}", fmt::join(set, "-"));
    if (seed != session_.seed) name += fmt::format("-seed-{}", seed);
    return trial_of(name, base_, set, seed);
  }

  // Of a set in whatever order; sets.size(): it is not among them.
  static size_t index_of(const Names& set, const std::vector<Names>& sets) {
    const auto same = [&](const Names& other) {
      return std::is_permutation(set.begin(), set.end(), other.begin(), other.end());
    };
    return static_cast<size_t>(std::find_if(sets.begin(), sets.end(), same) - sets.begin());
  }

  Found by_halving() {
    const auto all_sets = search::subsets(all_aggregators(), static_cast<size_t>(o_.choose));
    std::vector<Trial> trials;
    for (const Names& set : all_sets) trials.push_back(trial_of_set(set, session_.seed));
    const auto judge = [&](const Scores& s) {
      return s.valid.size() == all_sets.size()
                 ? search::shared_order(all_sets, s.valid, s.lower_is_better)
                 : by_validation(s);
    };
    auto rungs = search::halving_rungs(trials.size(), o_.first_epochs, epochs_, o_.factor);
    // A last one would be trained with all seeds anyway.
    while (rungs.size() > 1 && rungs.back().trials == 1) rungs.pop_back();
    const auto ranked = run_rungs(trials, rungs, o_.trials, session_, stop_, judge);
    check_found(ranked.front());
    Found out;
    for (size_t k = 0; k < ranked.size(); ++k)
      if (k < rungs.back().trials)
        out.finalists.push_back(aggregators_of(ranked[k]));
      else
        out.epochs += ranked[k].epochs;
    out.how = "<h2>Trials, those trained longest first</h2>\n" + trials_as_html(ranked);
    out.tried = ranked;
    return out;
  }

  Found by_gates() {
    Json config = base_;
    config["train"]["aggregator_sparsity"] = o_.strength;
    config["train"]["epochs"] = o_.gate_epochs;
    const Trial all = trial_of("all-seven", config, all_aggregators(), session_.seed);
    const auto trained = run_rungs({all}, {{o_.gate_epochs, 1, true}}, o_.trials, session_, stop_);
    check_found(trained.front());
    const auto shares = shares_of(fs::path(o_.trials.out) / all.name / "run");
    Found out;
    Names carriers;
    out.epochs = trained.front().epochs;
    out.how = "<h2>Contributions of all seven aggregators</h2>\n<table>\n";
    for (size_t k = 0; k < shares.size(); ++k) {
      if (std::ssize(carriers) < o_.choose) carriers.push_back(shares[k].first);
      out.how += fmt::format("<tr><th>{}</th><td>{:.1f} %</td></tr>\n", shares[k].first,
                             100 * shares[k].second);
    }
    out.how += "</table>\n";
    out.finalists = {carriers};
    out.shares = shares;
    return out;
  }

  // Largest first.
  std::vector<std::pair<std::string, double>> shares_of(const fs::path& run) const {
    std::vector<std::pair<std::string, double>> out;
    ChildJobs jobs;
    jobs.program = session_.program;
    jobs.stop = stop_;
    jobs.commands = {{"explain", run.string(), o_.trials.dataset, "--part", "valid"}};
    for (const std::string& a : child_arguments(session_, threads_of_child(1, 1)))
      jobs.commands.back().push_back(a);
    jobs.on_line = [&](size_t, std::string_view line) {
      const Json json = parse_json<Json>(line, "egc explain", ErrorKind::kSystem);
      if (!json.contains("summary")) return;
      for (const auto& [name, share] : json.at("aggregators").items())
        out.emplace_back(name, share.get<double>());
    };
    const int code = run_jobs(jobs).front();
    if (stop_ != nullptr && *stop_ != 0) throw SearchStopped();
    if (code != 0) throw error_of_child("egc explain", code);
    std::stable_sort(out.begin(), out.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    return out;
  }

  AggregatorSearchResult describe(const Found& found, const std::vector<Final>& finals,
                                  size_t chosen, const std::string& metric,
                                  const std::vector<Trial>& trials) const {
    AggregatorSearchResult out;
    static_cast<AggregatorChoice&>(out) = found;
    out.metric = metric;
    out.search_epochs = found.epochs;
    for (size_t k = 0; k < found.finalists.size(); ++k)
      if (k != chosen) out.search_epochs += finals[k].epochs;
    std::vector<Names> sets;
    for (const Final& f : finals) sets.push_back(f.aggregators);
    const size_t by_hand = by_hand_.empty() ? chosen : index_of(by_hand_, sets);
    const auto add = [&](const char* role, size_t k) {
      out.finals.push_back(finals[k]);
      out.finals.back().role = role;
    };
    add("chosen", chosen);
    if (by_hand != chosen) add("by-hand", by_hand);
    for (size_t k = 0; k < finals.size(); ++k)
      if (k != chosen && k != by_hand) add("finalist", k);
    std::string table =
        "<div class=\"scroll\"><table><tr><th></th><th>aggregators</th><th>validation</th>"
        "<th>test</th></tr>\n";
    for (const Final& f : out.finals) {
      const Spread v = spread_of(f.valid);
      const Spread s = spread_of(f.test);
      table += fmt::format("<tr><th>{}</th><td>{}</td><td>{}</td><td>{}</td></tr>\n", f.role,
                           fmt::join(f.aggregators, ", "),
                           report::spell_score(metric, v.mean, v.deviation),
                           report::spell_score(metric, s.mean, s.deviation));
    }
    out.budget =
        fmt::format("the search took {} training epochs; {} seeds per set, up to {} epochs each",
                    out.search_epochs, o_.seeds, epochs_);
    const fs::path page = fs::path(o_.trials.out) / "report.html";
    out.report = page.string();
    write_whole_file(
        page,
        report::html_page(fmt::format("Aggregators for {}: {}", o_.trials.dataset,
                                      fmt::join(finals[chosen].aggregators, ", ")),
                          fmt::format("<p>{}</p>\n{}</table></div>\n{}<h2>Training runs</h2>\n{}",
                                      report::escape_html(out.budget), table, found.how,
                                      trials_as_html(trials))));
    return out;
  }

  const AggregatorSearchOptions& o_;
  const Session& session_;
  const volatile std::sig_atomic_t* stop_;
  Json base_;
  int64_t epochs_;
  Names by_hand_;
};

}  // namespace

AggregatorSearchResult search_aggregators(
    const AggregatorSearchOptions& options, const Session& session,
    const volatile std::sig_atomic_t* stop,
    const std::function<void(const AggregatorChoice&)>& on_choice) {
  return AggregatorSearch(options, session, stop).run(on_choice);
}

}  // namespace egc::app
