// Searches judged by validation: settings of a space, or sets of aggregators. Everything is kept in
// a directory, so the same call goes on there.
#pragma once

#include <csignal>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "egc/app/search_trials.h"

namespace egc::app {

struct SearchOptions {
  TrialOptions trials;
  std::string config;  // of what is not searched; empty: the paper's for dataset and model
  std::string model = "egc-m";
  std::string method = "halving";
  std::optional<int64_t> epochs;  // at most, instead of the configuration's
  int64_t first_epochs = 5;       // of the first rung of halving
  int64_t factor = 3;
};

struct SettingsSearchOptions : SearchOptions {
  std::string space;  // a file
  int64_t count = 20;
};
struct SettingsSearchResult {
  std::vector<Trial> trials;  // the best first
  std::string best;           // the file of its configuration
};
// Throws SearchStopped where `stop` is set.
SettingsSearchResult search_settings(const SettingsSearchOptions& options, const Session& session,
                                     const volatile std::sig_atomic_t* stop = nullptr);

struct AggregatorSearchOptions : SearchOptions {
  int64_t choose = 3;
  int64_t seeds = 3;
  int64_t gate_epochs = 40;
  double strength = 0.01;
};
// A set with all its seeds.
struct AggregatorFinal {
  std::string role;  // chosen, by-hand, finalist
  std::vector<std::string> aggregators;
  std::vector<double> valid;
  std::vector<double> test;
  int64_t epochs = 0;
};
struct AggregatorSearchResult {
  std::vector<Trial> tried;                            // by halving
  std::vector<std::pair<std::string, double>> shares;  // by gates: of all seven, largest first
  std::vector<AggregatorFinal> finals;                 // the chosen set first
  std::string metric;
  int64_t search_epochs = 0;  // what the choice cost beside its own training
  std::string budget;         // a sentence about it
  std::string report;         // a file
};
AggregatorSearchResult search_aggregators(const AggregatorSearchOptions& options,
                                          const Session& session,
                                          const volatile std::sig_atomic_t* stop = nullptr);

// What both share: the configuration that the options give,
nlohmann::ordered_json base_config(const SearchOptions& options);
// the most epochs of a training of that configuration,
int64_t most_epochs(const nlohmann::ordered_json& config);
// a directory that belongs to one search (throws kUsage where another was begun there, kData where
// there is no such dataset; `plan` is what makes it another),
void claim_directory(const SearchOptions& options, nlohmann::ordered_json plan,
                     const Session& session);
// that a trial has a score (kVerification otherwise),
void check_found(const Trial& best);
// and a row for each trial, as HTML.
std::string trials_as_html(const std::vector<Trial>& trials);
// A score of the trial, or a dash.
std::string spell_trial_score(const Trial& trial, double value);

}  // namespace egc::app
