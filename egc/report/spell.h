// Numbers as people write them.
#pragma once

#include <string>

namespace egc::report {

// A score of that metric: percent, except errors.
std::string spell_score(const std::string& metric, double value);
// Mean and deviation likewise: "77.41 ± 1.10 %".
std::string spell_score(const std::string& metric, double mean, double deviation);
std::string spell_time(double seconds);

}  // namespace egc::report
