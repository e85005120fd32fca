#include "egc/search/space.h"

#include <cmath>

#include "egc/core/error.h"
#include "egc/core/json_parse.h"

namespace egc::search {
namespace {

using Json = nlohmann::ordered_json;

// {"train": {"lr": value}}
void put(Json& patch, const std::string& name, const Json& value) {
  const size_t dot = name.find('.');
  patch[name.substr(0, dot)][name.substr(dot + 1)] = value;
}

bool is_whole_range(double low, double high) {
  constexpr double kMax = 1e9;
  return low == std::floor(low) && high == std::floor(high) && low >= -kMax && high <= kMax;
}

}  // namespace

Space Space::parse(const std::string& text, const std::string& where) {
  const Json json = parse_json<Json>(text, where, ErrorKind::kUsage);
  check(json.is_object() && !json.empty(), "{}: a search space must be an object of settings",
        where);
  Space out;
  for (const auto& [name, value] : json.items()) {
    check(name.starts_with("model.") || name.starts_with("train."),
          "{}: \"{}\" must be model.<setting> or train.<setting>", where, name);
    Setting s;
    s.name = name;
    if (value.is_array()) {
      check(!value.empty(), "{}: \"{}\" has no choices", where, name);
      s.choices.assign(value.begin(), value.end());
      out.settings_.push_back(std::move(s));
      continue;
    }
    bool has_range = false;
    bool good = value.is_object();
    if (good)
      for (const auto& [key, of] : value.items()) {
        if (key == "steps") {
          good = good && of.is_number_integer() && of.get<int64_t>() >= 1;
          if (good) s.steps = of.get<int64_t>();
          continue;
        }
        good = good && !has_range && (key == "log" || key == "uniform" || key == "whole") &&
               of.is_array() && of.size() == 2 && of[0].is_number() && of[1].is_number();
        if (!good) break;
        has_range = true;
        s.log = key == "log";
        s.whole = key == "whole";
        s.low = of[0].get<double>();
        s.high = of[1].get<double>();
      }
    check(good && has_range && s.low <= s.high && std::isfinite(s.low) && std::isfinite(s.high) &&
              (!s.log || s.low > 0) && (!s.whole || is_whole_range(s.low, s.high)),
          "{}: \"{}\" must be a list, or {{\"uniform\" or \"log\" or \"whole\": [low, high]}} with "
          "low "
          "not above high (and above 0 for log, whole numbers for whole), and \"steps\" for a grid",
          where, name);
    out.settings_.push_back(std::move(s));
  }
  return out;
}

std::vector<std::string> Space::names() const {
  std::vector<std::string> out;
  for (const Setting& s : settings_) out.push_back(s.name);
  return out;
}

Json Space::value_at(const Setting& s, double share) const {
  if (s.log) return std::exp(std::log(s.low) + share * (std::log(s.high) - std::log(s.low)));
  const double value = s.low + share * (s.high - s.low);
  return s.whole ? Json(static_cast<int64_t>(std::llround(value))) : Json(value);
}

Json Space::sample(Rng& rng) const {
  Json patch = Json::object();
  for (const Setting& s : settings_) {
    if (!s.choices.empty()) {
      put(patch, s.name, s.choices[rng.below(static_cast<uint32_t>(s.choices.size()))]);
    } else if (s.whole) {
      const auto low = static_cast<int64_t>(s.low);
      put(patch, s.name, low + rng.below(static_cast<uint32_t>(s.high - s.low + 1)));
    } else {
      put(patch, s.name, value_at(s, rng.uniform()));
    }
  }
  return patch;
}

std::vector<Json> Space::grid() const {
  constexpr size_t kMax = 100'000;
  std::vector<Json> out = {Json::object()};
  for (const Setting& s : settings_) {
    std::vector<Json> values = s.choices;
    if (values.empty()) {
      check(s.steps >= 1, "\"{}\" needs \"steps\" for a grid", s.name);
      check(static_cast<uint64_t>(s.steps) <= kMax, "the grid has more than {} points", kMax);
      for (int64_t k = 0; k < s.steps; ++k) {
        const double share =
            s.steps == 1 ? 0.5 : static_cast<double>(k) / static_cast<double>(s.steps - 1);
        const Json value = value_at(s, share);
        if (values.empty() || values.back() != value) values.push_back(value);
      }
    }
    check(out.size() * values.size() <= kMax, "the grid has more than {} points", kMax);
    std::vector<Json> next;
    for (const Json& patch : out)
      for (const Json& value : values) {
        next.push_back(patch);
        put(next.back(), s.name, value);
      }
    out = std::move(next);
  }
  return out;
}

std::vector<std::vector<std::string>> subsets(const std::vector<std::string>& names, size_t size) {
  std::vector<std::vector<std::string>> out;
  std::vector<std::string> chosen;
  const auto extend = [&](const auto& self, size_t from) -> void {
    if (chosen.size() == size) {
      out.push_back(chosen);
      return;
    }
    for (size_t k = from; k < names.size(); ++k) {
      chosen.push_back(names[k]);
      self(self, k + 1);
      chosen.pop_back();
    }
  };
  extend(extend, 0);
  return out;
}

}  // namespace egc::search
