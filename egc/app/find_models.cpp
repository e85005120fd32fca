#include "egc/app/find_models.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "egc/app/shared_files.h"
#include "egc/core/error.h"
#include "egc/core/json_parse.h"
#include "egc/core/log.h"
#include "egc/core/nearest_name.h"
#include "egc/core/safetensors.h"
#include "egc/data/dataset_info.h"
#include "egc/inference/model.h"

namespace egc::app {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
namespace {

constexpr const char* kModel = "best.safetensors";

struct Candidate {
  std::string file;
  double valid = 0;
  bool higher_is_better = true;
};

Candidate candidate(const fs::path& file) {
  const auto metadata = SafetensorsFile(file).metadata();
  const auto it = metadata.find("metrics");
  Candidate out{file.string(), std::nan(""), true};
  if (it == metadata.end()) return out;
  const Json metrics = parse_json<Json>(it->second, file.string(), ErrorKind::kModel);
  const auto valid = metrics.find("valid");
  if (valid != metrics.end() && valid->is_number()) out.valid = valid->get<double>();
  out.higher_is_better = metrics.value("metric", "") != data::metrics().name_of(data::Metric::kMae);
  return out;
}

bool better(const Candidate& a, const Candidate& b) {
  if (std::isnan(a.valid) || std::isnan(b.valid)) return !std::isnan(a.valid);
  return a.higher_is_better ? a.valid > b.valid : a.valid < b.valid;
}

// The runs seed-<n> of a directory; those that have no model yet are left out with a warning.
std::vector<std::string> models_of_seeds(const fs::path& dir) {
  std::vector<fs::path> runs;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(dir, ignored))
    if (entry.path().filename().string().starts_with("seed-")) runs.push_back(entry.path());
  std::sort(runs.begin(), runs.end());
  std::vector<std::string> out;
  for (const fs::path& run : runs)
    if (fs::exists(run / kModel, ignored))
      out.push_back((run / kModel).string());
    else
      log_warning("{}: skipped, it has no {} yet", run.string(), kModel);
  return out;
}

}  // namespace

std::vector<std::string> pretrained_models() {
  std::vector<std::string> out;
  const auto dir = shared_file("pretrained");
  std::error_code ignored;
  if (dir)
    for (const auto& entry : fs::directory_iterator(*dir, ignored))
      if (entry.path().extension() == ".safetensors") out.push_back(entry.path().stem().string());
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<std::string> find_models(const std::string& name, bool ensemble,
                                     std::optional<uint64_t> seed) {
  const fs::path path(name);
  std::error_code ignored;
  const auto alone = [&](const fs::path& file) -> std::vector<std::string> {
    check(!ensemble, "--ensemble needs a run with several seeds; {} is a single model", name);
    return {file.string()};
  };
  if (!fs::exists(path, ignored)) {
    if (const auto file = shared_file(fs::path("pretrained") / (name + ".safetensors")))
      return alone(*file);
    const bool like_a_path = path.has_parent_path() || path.has_extension();
    const std::vector<std::string> shipped = pretrained_models();
    const std::string guess = did_you_mean(name, {shipped.begin(), shipped.end()});
    fail(ErrorKind::kSystem, "{}: no such run or model file{}", name,
         like_a_path ? ""
                     : fmt::format("{} shipped models: {}", guess.empty() ? ";" : guess,
                                   fmt::join(shipped, ", ")));
  }
  if (!fs::is_directory(path, ignored)) return alone(path);
  if (fs::exists(path / "config.json", ignored)) return alone(inference::model_path(path));
  const std::vector<std::string> models = models_of_seeds(path);
  if (models.empty()) return alone(inference::model_path(path));  // which tells what is wrong
  if (ensemble) return models;
  if (seed) {
    const std::string wanted = (path / fmt::format("seed-{}", *seed) / kModel).string();
    if (std::find(models.begin(), models.end(), wanted) == models.end())
      fail(ErrorKind::kUsage, "{}: no run with seed {}", name, *seed);
    return {wanted};
  }
  std::vector<Candidate> candidates;
  for (const std::string& file : models) {
    try {
      candidates.push_back(candidate(file));
    } catch (const Error& e) {
      log_warning("skipped: {}", e.what());
    }
  }
  if (candidates.empty()) return {models.front()};  // opening it tells what is wrong
  const Candidate best = *std::min_element(candidates.begin(), candidates.end(), better);
  log_info("{}: using {}, the best of {} on the validation set", name,
           fs::path(best.file).parent_path().filename().string(), models.size());
  return {best.file};
}

}  // namespace egc::app
