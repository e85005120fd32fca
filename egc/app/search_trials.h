// Trials of a search: trainings with different configurations, in processes of their own, judged by
// validation after some epochs. Everything is kept, so a search that was stopped goes on.
//
//   OUT/<trial>/config.json           what is trained
//   OUT/<trial>/run/                  the run
//   OUT/<trial>/after-<epochs>.json   how it stood then
#pragma once

#include <csignal>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "egc/app/search.h"
#include "egc/search/halving.h"

namespace egc::app {

// A line of `egc train --json` about an epoch, for people.
std::string spell_epoch(const nlohmann::ordered_json& line);

// How trials did on the validation set.
struct Scores {
  std::vector<double> valid;
  bool lower_is_better = false;
};
// The places of trials that have trained equally long, the best first.
using Judge = std::function<std::vector<size_t>(const Scores& scores)>;
std::vector<size_t> by_validation(const Scores& scores);

// Trains the trials through the rungs; the best first. Throws SearchStopped where `stop` is set.
std::vector<Trial> run_rungs(std::vector<Trial> trials, const std::vector<search::Rung>& rungs,
                             const TrialOptions& options, const Session& session,
                             const volatile std::sig_atomic_t* stop,
                             const Judge& judge = by_validation);

}  // namespace egc::app
