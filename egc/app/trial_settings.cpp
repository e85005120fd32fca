#include "egc/app/trial_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "egc/report/html.h"
#include "egc/search/ranks.h"

namespace egc::app {
namespace {

using Json = nlohmann::ordered_json;

// The settings of one trial, with dots where objects are in objects.
void collect(const Json& json, const std::string& name, size_t trial, size_t trials,
             std::vector<TrialSetting>& to) {
  if (json.is_object()) {
    for (auto it = json.begin(); it != json.end(); ++it)
      collect(*it, name.empty() ? it.key() : name + "." + it.key(), trial, trials, to);
    return;
  }
  auto at =
      std::find_if(to.begin(), to.end(), [&](const TrialSetting& s) { return s.name == name; });
  if (at == to.end())
    at = to.insert(
        at, {name, std::vector<std::string>(trials), std::vector<double>(trials, std::nan(""))});
  at->values[trial] = json.is_number_float() ? fmt::format("{:.4g}", json.get<double>())
                      : json.is_string()     ? json.get_ref<const std::string&>()
                                             : json.dump();
  if (json.is_number()) at->numbers[trial] = json.get<double>();
}

}  // namespace

std::vector<TrialSetting> differing_settings(const std::vector<Trial>& trials) {
  std::vector<TrialSetting> out;
  for (size_t k = 0; k < trials.size(); ++k)
    collect(Json::parse(trials[k].config), "", k, trials.size(), out);
  std::erase_if(out, [](const TrialSetting& s) {
    return std::equal(s.values.begin() + 1, s.values.end(), s.values.begin());
  });
  return out;
}

std::string what_mattered(const std::vector<Trial>& ranked) {
  // Scores after different numbers of epochs cannot be compared; places can.
  std::vector<double> places;
  for (const Trial& t : ranked)
    places.push_back(std::isnan(t.valid) ? t.valid : -static_cast<double>(places.size()));
  const std::vector<TrialSetting> settings = differing_settings(ranked);
  std::vector<double> left;  // correlations that are not in the table yet
  for (const TrialSetting& s : settings)
    left.push_back(search::rank_correlation(s.numbers, places));
  std::string rows;
  for (;;) {
    size_t most = left.size();
    for (size_t k = 0; k < left.size(); ++k)
      if (!std::isnan(left[k]) && (most == left.size() || std::abs(left[k]) > std::abs(left[most])))
        most = k;
    if (most == left.size()) break;
    rows += fmt::format("<tr><th>{}</th><td>{:+.2f}</td></tr>\n",
                        report::escape_html(settings[most].name), left[most]);
    left[most] = std::nan("");
  }
  if (rows.empty()) return "";
  return "<h2>Influence of the settings</h2>\n<p>Spearman rank correlation of each setting with "
         "the validation score: near 1, larger values are better; near -1, smaller ones. Trials "
         "that halving kept longer count as better.</p>\n<table>\n" +
         rows + "</table>\n";
}

}  // namespace egc::app
