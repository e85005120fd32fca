// What both searches share.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "egc/app/search_trials.h"

namespace egc::app {

// The configuration that the options give.
nlohmann::ordered_json base_config(const SearchOptions& options);
// The most epochs of a training of that configuration.
int64_t max_epochs(const nlohmann::ordered_json& config);
// The directory belongs to one search from now on: throws kUsage where another was begun there,
// kData where there is no such dataset. `plan` is what makes it another.
void claim_directory(const SearchOptions& options, nlohmann::ordered_json plan,
                     const Session& session);
// Throws kVerification unless the trial has a score.
void check_found(const Trial& best);
// A row for each trial, with the settings that are not the same for all.
std::string trials_as_html(const std::vector<Trial>& trials);

}  // namespace egc::app
