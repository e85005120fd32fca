#include "egc/app/begin_runs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "egc/app/find_dataset.h"
#include "egc/app/shared_files.h"
#include "egc/core/error.h"
#include "egc/core/log.h"
#include "egc/data/dataset_table.h"
#include "egc/data/generate/generators.h"
#include "egc/data/partition/dataset_part.h"
#include "egc/data/raw/write_dataset.h"

namespace egc::app {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string published_config(const std::string& dataset, const std::string& model) {
  const data::KnownDataset* known = data::find_known(dataset);
  std::string folder = known != nullptr ? known->name : data::is_generator(dataset) ? dataset : "";
  if (folder == "mag") folder = "rmag";         // networks of all its types
  if (dataset == kPapersOfMag) folder = "mag";  // of its papers alone
  if (folder.empty()) return "";
  const auto file = shared_file(fs::path("configs") / folder / (model + ".json"));
  return file ? file->string() : "";
}

namespace {

bool has_results(const fs::path& run) {
  std::error_code ignored;
  return fs::exists(run / "last.ckpt", ignored) || fs::exists(run / "best.safetensors", ignored);
}

// Whether a directory has nothing but what training writes into a run, its configuration first.
bool is_nothing_but_a_run(const fs::path& dir) {
  constexpr const char* kFiles[] = {"config.json",   "last.ckpt",   "best.safetensors",
                                    "metrics.jsonl", "report.html", "lock"};
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(dir, error)) {
    const std::string name = entry.path().filename().string();
    const bool known = name.starts_with("events.out.tfevents.") ||
                       std::any_of(std::begin(kFiles), std::end(kFiles), [&](const char* file) {
                         return name == file || name.starts_with(std::string(file) + ".tmp.");
                       });
    if (!known || !entry.is_regular_file(error)) return false;
  }
  const auto config =
      Json::parse(std::ifstream(dir / "config.json"), nullptr, /*allow_exceptions=*/false);
  return !error && config.is_object() && config.contains("model") && config.contains("about");
}

// The runs that are in a directory; none where it has anything else.
std::vector<fs::path> runs_below(const fs::path& dir) {
  std::error_code error;
  if (fs::exists(dir / "config.json", error))
    return is_nothing_but_a_run(dir) ? std::vector<fs::path>{dir} : std::vector<fs::path>{};
  std::vector<fs::path> out;
  for (const auto& entry : fs::directory_iterator(dir, error)) {
    const std::string name = entry.path().filename().string();
    if (name == "report.html" && entry.is_regular_file(error)) continue;
    if (!name.starts_with("seed-") || !is_nothing_but_a_run(entry.path())) return {};
    out.push_back(entry.path());
  }
  return out;
}

bool is_locked(const fs::path& run) {
  const int file = ::open((run / "lock").c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return false;
  const bool locked = flock(file, LOCK_EX | LOCK_NB) != 0;
  close(file);
  return locked;
}

// Whether a new run may stand there: nothing is there, or runs that failed before their first
// checkpoint, or runs that the person wants replaced.
bool may_begin(const fs::path& dir, bool overwrite) {
  std::error_code ignored;
  if (!fs::exists(dir, ignored)) return true;
  const std::vector<fs::path> runs = runs_below(dir);
  return !runs.empty() && (overwrite || std::none_of(runs.begin(), runs.end(), has_results));
}

}  // namespace

Replaced::Replaced(const std::string& dir, bool overwrite, std::string& config) : dir_(dir) {
  std::error_code ignored;
  if (!fs::exists(dir_, ignored) || fs::is_empty(dir_, ignored)) return;
  if (!may_begin(dir_, overwrite)) {
    check(!overwrite || !runs_below(dir_).empty(),
          "{}: contains files that do not belong to a run, so --overwrite does not replace it",
          dir);
    return;
  }
  for (const fs::path& run : runs_below(dir_))
    check(!is_locked(run), "{}: another process is training in this directory", run.string());
  const fs::path whole = fs::canonical(dir_, ignored);
  const fs::path aside = whole.string() + fmt::format(".replaced.{}", getpid());
  // The configuration may be the old run's own.
  if (!config.empty())
    if (const fs::path rest = fs::canonical(config, ignored).lexically_relative(whole);
        !rest.empty() && *rest.begin() != "..")
      config = (aside / rest).string();
  std::error_code error;
  fs::rename(whole, aside, error);
  if (error) fail(ErrorKind::kSystem, "{}: cannot replace the run: {}", dir, error.message());
  aside_ = aside;
}

Replaced::~Replaced() { put_back(); }

void Replaced::put_back() const {
  if (aside_.empty()) return;
  std::error_code ignored;
  const std::vector<fs::path> runs = runs_below(dir_);
  if (std::any_of(runs.begin(), runs.end(), has_results)) {
    fs::remove_all(aside_, ignored);
    return;
  }
  if (!runs.empty() || fs::is_empty(dir_, ignored)) fs::remove_all(dir_, ignored);
  fs::rename(aside_, dir_, ignored);
}

std::string free_directory(const TrainOptions& options, bool overwrite) {
  fs::path path(options.dataset);
  if (!path.has_filename()) path = path.parent_path();
  const std::string name = path.filename().string();
  const std::string model =
      options.model.empty() ? fs::path(options.config).stem().string() : options.model;
  const std::string base = fmt::format("runs/{}-{}", name.empty() ? "dataset" : name, model);
  std::string out = base;
  for (int k = 2; !may_begin(out, overwrite) || is_locked(out); ++k)
    out = fmt::format("{}-{}", base, k);
  return out;
}

std::vector<std::string> runs_in(const std::string& dir) {
  std::vector<std::string> out;
  if (fs::exists(fs::path(dir) / "config.json")) return {dir};
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(dir, ignored))
    if (fs::exists(entry.path() / "config.json")) out.push_back(entry.path().string());
  check(!out.empty(), "{}: not a run: it has no config.json", dir);
  std::sort(out.begin(), out.end(), [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;  // seed-2 before seed-10
  });
  return out;
}

const LoadedDataset& TrainingData::of(const std::string& name) {
  if (loaded_ && name_ == name) return *loaded_;
  loaded_.reset();
  Session fixed = session_;
  fixed.seed = 0;
  // Of a graph in parts the first tells all that a run asks.
  loaded_.emplace(data::is_parts_directory(name)
                      ? data::read_part(name, /*part=*/0, group_address().size).dataset
                      : load_dataset(name, fixed));
  name_ = name;
  return *loaded_;
}

LoadedDataset TrainingData::take(const std::string& name) {
  of(name);
  LoadedDataset out = *std::move(loaded_);
  loaded_.reset();
  return out;
}

void TrainingData::rename(const std::string& name) { name_ = name; }

std::vector<std::string> begin_runs(const TrainRequest& o, const Session& session,
                                    TrainingData& data, const std::string& dir,
                                    std::unique_ptr<Replaced>& replaced) {
  TrainOptions options = o.options;
  const LoadedDataset& dataset = data.of(options.dataset);
  if (options.config.empty()) {
    options.config = published_config(options.dataset, options.model);
    if (!options.config.empty()) log_info("using the paper's configuration: {}", options.config);
  }
  if (const auto path = dataset_directory(options.dataset, session);
      path && fs::exists(options.dataset))
    options.dataset = fs::absolute(*path).lexically_normal().string();
  data.rename(options.dataset);
  replaced = std::make_unique<Replaced>(dir, o.overwrite, options.config);
  if (o.seeds == 1) {
    create_runs(dataset, options, {{dir, session.seed}}, group_address().size);
    return {dir};
  }
  // All of them or none: a set with some missing would look complete.
  std::vector<std::string> runs;
  data::create_directory_whole(dir, [&](const fs::path& to) {
    std::vector<RunToCreate> create;
    for (int64_t k = 0; k < o.seeds; ++k) {
      const uint64_t seed = session.seed + static_cast<uint64_t>(k);
      const std::string name = fmt::format("seed-{}", seed);
      create.push_back({(to / name).string(), seed});
      runs.push_back((fs::path(dir) / name).string());
    }
    create_runs(dataset, options, create);
  });
  return runs;
}

}  // namespace egc::app
