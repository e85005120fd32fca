// The model that a name stands for: a file, a run, a directory of runs with several seeds, or one
// that is shipped.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace egc::app {

// The files. Of several seeds: that of `seed`, the best on the validation set, or all of them with
// `ensemble`.
std::vector<std::string> find_models(const std::string& name, bool ensemble,
                                     std::optional<uint64_t> seed = {});

// Names of the shipped models.
std::vector<std::string> pretrained_models();

}  // namespace egc::app
