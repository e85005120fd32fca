// Searches over settings or sets of aggregators, scored on the validation set. A search keeps its
// state in its directory and resumes when called again. Trials are trained by the egc program in
// processes of their own (Session::program).
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

// How trials run.
struct TrialOptions {
  std::string dataset;             // name or path
  std::string out;                 // directory of the search
  int64_t jobs = 1;                // trials at a time
  bool may_be_impossible = false;  // skip settings that no network can have instead of failing
};

// A run of a search.
struct Trial {
  std::string name;    // of its directory
  std::string config;  // configuration, JSON
  uint64_t seed = 0;   // of its randomness

  double valid = 0;    // best validation score so far
  double test = 0;     // test score; NaN unless trained to the end
  int64_t epochs = 0;  // trained
  std::string metric;  // name
};

// Options of both searches.
struct SearchOptions {
  TrialOptions trials;  // how trials run
  // Configuration file of fixed settings; empty: the paper's for dataset and model.
  std::string config;
  std::string model = "egc-m";  // name of the layer
  // halving; settings also: grid, random; aggregators also: gates
  std::string method = "halving";
  std::optional<int64_t> epochs;  // maximum, instead of the configuration's
  int64_t first_epochs = 5;       // epochs of the first rung of halving
  // Of halving: one of so many trials continues, for so many times the epochs.
  int64_t factor = 3;
};

// Thrown by the searches after `stop` was set; call again to resume.
struct SearchStopped {};

// Options of search_settings().
struct SettingsSearchOptions : SearchOptions {
  std::string space;   // file with the search space
  int64_t count = 20;  // number of trials
};
// Result of search_settings().
struct SettingsSearchResult {
  std::vector<Trial> trials;  // best first
  std::string best;           // file with the best configuration
};
// Searches a space of settings. stop: nonzero ends the search with SearchStopped.
SettingsSearchResult search_settings(const SettingsSearchOptions& options, const Session& session,
                                     const volatile std::sig_atomic_t* stop = nullptr);

// Options of search_aggregators().
struct AggregatorSearchOptions : SearchOptions {
  int64_t choose = 3;        // number of aggregators in a set
  int64_t seeds = 3;         // runs of each finalist
  int64_t gate_epochs = 40;  // gates: epochs of the network with all aggregators
  double strength = 0.01;    // gates: weight of the sparsity penalty
};
// The choice, before the finalists are trained.
struct AggregatorChoice {
  std::vector<Trial> tried;  // halving: all trials
  // Gates: share of each aggregator, largest first.
  std::vector<std::pair<std::string, double>> shares;
};
// A set of aggregators, trained with all seeds.
struct AggregatorFinal {
  std::string role;                      // chosen, by-hand or finalist
  std::vector<std::string> aggregators;  // names
  std::vector<double> valid;             // validation score of each seed
  std::vector<double> test;              // test score of each seed
  int64_t epochs = 0;                    // trained, over all seeds
};
// Result of search_aggregators().
struct AggregatorSearchResult : AggregatorChoice {
  std::vector<AggregatorFinal> finals;  // chosen set first
  std::string metric;                   // name
  int64_t search_epochs = 0;            // epochs spent on the choice
  std::string budget;                   // a sentence about these epochs
  std::string report;                   // HTML file
};
// Chooses a set of aggregators and trains it beside others. on_choice: called before the finalists
// are trained. stop: nonzero ends the search with SearchStopped.
AggregatorSearchResult search_aggregators(
    const AggregatorSearchOptions& options, const Session& session,
    const volatile std::sig_atomic_t* stop = nullptr,
    const std::function<void(const AggregatorChoice&)>& on_choice = {});

// A score of the trial for tables; a dash for NaN.
std::string spell_trial_score(const Trial& trial, double value);

}  // namespace egc::app
