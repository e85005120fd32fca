#include "cli/predict/model_argument.h"

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

namespace egc::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

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

void add_model_argument(CLI::App& c, ModelArgument& argument, bool may_be_several) {
  c.add_option("model", argument.name,
               "Run, model file or name of a shipped model; of a run with several seeds, the best "
               "on the validation set or that of --seed")
      ->required();
  if (may_be_several)
    c.add_flag("--ensemble", argument.ensemble, "Average the predictions of all seeds of the run");
}

std::vector<std::string> pretrained_models() {
  std::vector<std::string> out;
  const auto dir = app::shared_file("pretrained");
  std::error_code ignored;
  if (dir)
    for (const auto& entry : fs::directory_iterator(*dir, ignored))
      if (entry.path().extension() == ".safetensors") out.push_back(entry.path().stem().string());
  std::sort(out.begin(), out.end());
  return out;
}

CommonOptions options_for_data(const ModelArgument& argument, const CommonOptions& common) {
  std::error_code ignored;
  const bool chosen = common.seed_given && fs::is_directory(argument.name, ignored) &&
                      !fs::exists(fs::path(argument.name) / "config.json", ignored);
  CommonOptions out = common;
  if (chosen) out.seed = 0;
  return out;
}

std::vector<std::string> find_models(const ModelArgument& argument, const CommonOptions& common) {
  const fs::path path(argument.name);
  std::error_code ignored;
  const auto alone = [&](const fs::path& file) -> std::vector<std::string> {
    check(!argument.ensemble, "--ensemble needs a run with several seeds; {} is a single model",
          argument.name);
    return {file.string()};
  };
  if (!fs::exists(path, ignored)) {
    if (const auto file =
            app::shared_file(fs::path("pretrained") / (argument.name + ".safetensors")))
      return alone(*file);
    const bool like_a_path = path.has_parent_path() || path.has_extension();
    const std::vector<std::string> shipped = pretrained_models();
    const std::string guess = did_you_mean(argument.name, {shipped.begin(), shipped.end()});
    fail(ErrorKind::kSystem, "{}: no such run or model file{}", argument.name,
         like_a_path ? ""
                     : fmt::format("{} shipped models: {}", guess.empty() ? ";" : guess,
                                   fmt::join(shipped, ", ")));
  }
  if (!fs::is_directory(path, ignored)) return alone(path);
  if (fs::exists(path / "config.json", ignored)) return alone(inference::model_path(path));
  const std::vector<std::string> models = models_of_seeds(path);
  if (models.empty()) return alone(inference::model_path(path));  // which tells what is wrong
  if (argument.ensemble) return models;
  if (common.seed_given) {
    const std::string wanted = (path / fmt::format("seed-{}", common.seed) / kModel).string();
    if (std::find(models.begin(), models.end(), wanted) == models.end())
      fail(ErrorKind::kUsage, "{}: no run with seed {}", argument.name, common.seed);
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
  log_info("{}: using {}, the best of {} on the validation set", argument.name,
           fs::path(best.file).parent_path().filename().string(), models.size());
  return {best.file};
}

}  // namespace egc::cli
