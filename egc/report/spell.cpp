#include "egc/report/spell.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace egc::report {

std::string spell_score(const std::string& metric, double value) {
  if (std::isnan(value)) return "undefined";
  return metric == "mae" ? fmt::format("{:.4f}", value) : fmt::format("{:.2f} %", 100 * value);
}

std::string spell_score(const std::string& metric, double mean, double deviation) {
  if (std::isnan(mean)) return "undefined";
  return metric == "mae" ? fmt::format("{:.4f} ± {:.4f}", mean, deviation)
                         : fmt::format("{:.2f} ± {:.2f} %", 100 * mean, 100 * deviation);
}

std::string spell_time(double seconds) {
  if (seconds < 9.95) return fmt::format("{:.1f} s", std::max(0.0, seconds));
  const auto s = static_cast<int64_t>(std::clamp(seconds, 0.0, 1e9));
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{}:{:02} min", s / 60, s % 60);
  return fmt::format("{}:{:02} h", s / 3600, s / 60 % 60);
}

}  // namespace egc::report
