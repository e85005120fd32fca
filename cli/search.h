// What both kinds of search share.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/search_trials.h"

namespace egc::cli {

struct SearchOptions {
  TrialOptions trials;
  std::string config;  // of what is not searched; empty: the paper's for dataset and model
  std::string model = "egc-m";
  std::string method;
  std::optional<int64_t> epochs;  // at most, instead of the configuration's
  int64_t first_epochs = 5;       // of the first rung of halving
  int64_t factor = 3;
};

// The options that both have, and the configuration that they give.
void add_search_options(CLI::App& command, SearchOptions& options);
nlohmann::ordered_json base_config(const SearchOptions& options);
// The most epochs of a training of that configuration.
int64_t most_epochs(const nlohmann::ordered_json& config);
// A directory belongs to one search: throws kUsage where another was begun there, kData where there
// is no such dataset. `plan` is what makes it another.
void claim_directory(const SearchOptions& options, nlohmann::ordered_json plan,
                     const CommonOptions& common);
// Calls it; ends the program as interrupted where it was stopped.
void run_search(const std::function<void()>& search);
// Throws kVerification where no trial has a score.
void check_found(const Trial& best);

// Trials as lines for people or programs.
void print_trials(const std::vector<Trial>& trials, const CommonOptions& common);
// A row for each trial, as HTML.
std::string trials_as_html(const std::vector<Trial>& trials);

void add_search_settings(CLI::App& search, const CommonOptions& common);
void add_search_aggregators(CLI::App& search, const CommonOptions& common);

}  // namespace egc::cli
