// How often values occur.
#pragma once

#include <span>
#include <string>

namespace egc::report {

// Counts of values in equal steps between the least and the largest.
std::string histogram_svg(const std::string& title, std::span<const float> values);

}  // namespace egc::report
