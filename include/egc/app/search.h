// Searches judged by validation: settings of a space, or sets of aggregators. Everything is kept in
// a directory, so the same call goes on there. Trials are trained by the egc program in processes
// of their own (Session::program).
#pragma once

#include <csignal>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "egc/app/session.h"

namespace egc::app {

struct TrialOptions {
  std::string dataset;
  std::string out;                 // a directory
  int64_t jobs = 1;                // trials at a time
  bool may_be_impossible = false;  // there may be no network of a trial's settings
};

struct Trial {
  std::string name;    // of its directory
  std::string config;  // JSON
  uint64_t seed = 0;

  double valid = 0;    // as far as it has come
  double test = 0;     // NaN unless it has trained to the end
  int64_t epochs = 0;  // trained
  std::string metric;
};

struct SearchOptions {
  TrialOptions trials;
  std::string config;  // of what is not searched; empty: the paper's for dataset and model
  std::string model = "egc-m";
  std::string method = "halving";
  std::optional<int64_t> epochs;  // at most, instead of the configuration's
  int64_t first_epochs = 5;       // of the first rung of halving
  int64_t factor = 3;
};

// Thrown by the searches where `stop` is set.
struct SearchStopped {};

struct SettingsSearchOptions : SearchOptions {
  std::string space;  // a file
  int64_t count = 20;
};
struct SettingsSearchResult {
  std::vector<Trial> trials;  // the best first
  std::string best;           // the file of its configuration
};
SettingsSearchResult search_settings(const SettingsSearchOptions& options, const Session& session,
                                     const volatile std::sig_atomic_t* stop = nullptr);

struct AggregatorSearchOptions : SearchOptions {
  int64_t choose = 3;
  int64_t seeds = 3;
  int64_t gate_epochs = 40;
  double strength = 0.01;
};
// What halving or gates found, before finalists are trained.
struct AggregatorChoice {
  std::vector<Trial> tried;                            // by halving
  std::vector<std::pair<std::string, double>> shares;  // by gates: of all seven, largest first
};
// A set with all its seeds.
struct AggregatorFinal {
  std::string role;  // chosen, by-hand, finalist
  std::vector<std::string> aggregators;
  std::vector<double> valid;
  std::vector<double> test;
  int64_t epochs = 0;
};
struct AggregatorSearchResult : AggregatorChoice {
  std::vector<AggregatorFinal> finals;  // the chosen set first
  std::string metric;
  int64_t search_epochs = 0;  // what the choice cost beside its own training
  std::string budget;         // a sentence about it
  std::string report;         // a file
};
AggregatorSearchResult search_aggregators(
    const AggregatorSearchOptions& options, const Session& session,
    const volatile std::sig_atomic_t* stop = nullptr,
    const std::function<void(const AggregatorChoice&)>& on_choice = {});

// A score of the trial, or a dash.
std::string spell_trial_score(const Trial& trial, double value);

}  // namespace egc::app
