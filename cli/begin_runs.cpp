#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/dataset_argument.h"
#include "cli/shared_files.h"
#include "cli/train_runs.h"
#include "egc/core/error.h"
#include "egc/core/log.h"
#include "egc/data/dataset_part.h"
#include "egc/data/dataset_table.h"
#include "egc/data/generators.h"
#include "egc/data/write_dataset.h"

namespace egc::cli {

namespace fs = std::filesystem;

std::string published_config(const std::string& dataset, const std::string& model) {
  const data::KnownDataset* known = data::find_known(dataset);
  std::string folder = known != nullptr ? known->name : data::is_generator(dataset) ? dataset : "";
  if (folder == "mag") folder = "rmag";         // networks of all its types
  if (dataset == kPapersOfMag) folder = "mag";  // of its papers alone
  if (folder.empty()) return "";
  const auto file = shared_file(fs::path("configs") / folder / (model + ".json"));
  return file ? file->string() : "";
}

std::string free_directory(const TrainFlags& flags) {
  fs::path path(flags.dataset);
  if (!path.has_filename()) path = path.parent_path();
  const std::string name = path.filename().string();
  const std::string model =
      flags.model.empty() ? fs::path(flags.config).stem().string() : flags.model;
  const std::string base = fmt::format("runs/{}-{}", name.empty() ? "dataset" : name, model);
  std::string out = base;
  for (int k = 2; fs::exists(out); ++k) out = fmt::format("{}-{}", base, k);
  return out;
}

std::vector<std::string> runs_in(const std::string& dir) {
  std::vector<std::string> out;
  if (fs::exists(fs::path(dir) / "config.json")) return {dir};
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(dir, ignored))
    if (fs::exists(entry.path() / "config.json")) out.push_back(entry.path().string());
  check(!out.empty(), "{}: no run: there is no config.json", dir);
  std::sort(out.begin(), out.end(), [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;  // seed-2 before seed-10
  });
  return out;
}

data::Dataset load_for_training(const std::string& name, const CommonOptions& common) {
  CommonOptions fixed = common;
  fixed.seed = 0;
  if (data::is_parts_directory(name))  // the first tells all that a run asks
    return data::read_part(name, /*part=*/0, torch_module().train_place().size).dataset;
  return load_dataset(name, fixed);
}

std::vector<std::string> begin_runs(const TrainCommand& o, const CommonOptions& common,
                                    const std::string& dir) {
  TrainFlags flags = o.flags;
  const data::Dataset dataset = load_for_training(flags.dataset, common);
  if (flags.config.empty()) {
    flags.config = published_config(flags.dataset, flags.model);
    if (!flags.config.empty()) log_info("the paper's configuration: {}", flags.config);
  }
  if (const auto path = dataset_directory(flags.dataset, common); path && fs::exists(flags.dataset))
    flags.dataset = fs::absolute(*path).lexically_normal().string();
  if (o.seeds == 1) {
    torch_module().create_runs(dataset, flags, {{dir, common.seed}});
    return {dir};
  }
  // All of them or none: a set with some missing would look complete.
  std::vector<std::string> runs;
  data::create_directory_whole(dir, [&](const fs::path& to) {
    std::vector<RunToCreate> create;
    for (int64_t k = 0; k < o.seeds; ++k) {
      const uint64_t seed = common.seed + static_cast<uint64_t>(k);
      const std::string name = fmt::format("seed-{}", seed);
      create.push_back({(to / name).string(), seed});
      runs.push_back((fs::path(dir) / name).string());
    }
    torch_module().create_runs(dataset, flags, create);
  });
  return runs;
}

}  // namespace egc::cli
