// A space of settings to search, given as JSON:
//   {"train.lr": {"log": [0.0003, 0.01]}, "train.wd": {"uniform": [0, 0.001], "steps": 3},
//    "model.layers": {"whole": [2, 6]}, "train.batch": [32, 64, 128]}
// Names are those of a configuration file. A point of the space is a merge patch (RFC 7386) of one.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "egc/core/rng.h"

namespace egc::search {

class Space {
 public:
  // Throws kUsage with `where` and what was expected.
  static Space parse(const std::string& text, const std::string& where);

  // Of the settings, for instance train.lr.
  std::vector<std::string> names() const;

  // One point, drawn.
  nlohmann::ordered_json sample(Rng& rng) const;
  // All points of the lists, and of ranges in "steps" equal steps; the last name varies fastest.
  // Throws kUsage where a range has no steps, or there are more than 100,000 points.
  std::vector<nlohmann::ordered_json> grid() const;

 private:
  struct Setting {
    std::string name;                             // "train.lr"
    std::vector<nlohmann::ordered_json> choices;  // or a range:
    bool log = false;
    bool whole = false;
    double low = 0;
    double high = 0;
    int64_t steps = 0;
  };
  nlohmann::ordered_json value_at(const Setting& setting, double share) const;

  std::vector<Setting> settings_;
};

// All sets of `size` out of `names`, each in the order of the names.
std::vector<std::vector<std::string>> subsets(const std::vector<std::string>& names, size_t size);

}  // namespace egc::search
