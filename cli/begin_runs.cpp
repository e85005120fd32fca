#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

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

namespace {

// The runs that are in a directory, none where it is no run.
std::vector<fs::path> runs_below(const fs::path& dir) {
  std::error_code ignored;
  if (fs::exists(dir / "config.json", ignored)) return {dir};
  std::vector<fs::path> out;
  for (const auto& entry : fs::directory_iterator(dir, ignored))
    if (entry.path().filename().string().starts_with("seed-") &&
        fs::exists(entry.path() / "config.json", ignored))
      out.push_back(entry.path());
  return out;
}

// Whether a new run may stand there: nothing is there, or runs that failed before their first
// checkpoint, or the person wants what is there replaced.
bool may_begin(const fs::path& dir, bool overwrite) {
  std::error_code ignored;
  if (!fs::exists(dir, ignored)) return true;
  const auto has_results = [&](const fs::path& run) {
    return fs::exists(run / "last.ckpt", ignored) || fs::exists(run / "best.safetensors", ignored);
  };
  const std::vector<fs::path> runs = runs_below(dir);
  return !runs.empty() && (overwrite || std::none_of(runs.begin(), runs.end(), has_results));
}

bool is_locked(const fs::path& run) {
  const int file = ::open((run / "lock").c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return false;
  const bool locked = flock(file, LOCK_EX | LOCK_NB) != 0;
  close(file);
  return locked;
}

// Moves what is replaced aside while the new run is made, and back where that fails.
class Replaced {
 public:
  Replaced(const fs::path& dir, bool overwrite) : dir_(dir) {
    std::error_code ignored;
    if (!fs::exists(dir, ignored) || !may_begin(dir, overwrite)) return;
    for (const fs::path& run : runs_below(dir))
      check(!is_locked(run), "{}: another process is training in this directory", run.string());
    fs::path whole = fs::absolute(dir, ignored).lexically_normal();
    if (!whole.has_filename()) whole = whole.parent_path();
    aside_ = whole.string() + fmt::format(".replaced.{}", getpid());
    std::error_code error;
    fs::rename(dir, aside_, error);
    if (error)
      fail(ErrorKind::kSystem, "{}: cannot be replaced: {}", dir.string(), error.message());
  }
  ~Replaced() {
    if (aside_.empty()) return;
    std::error_code ignored;
    if (!done_) fs::remove_all(dir_, ignored);
    if (done_)
      fs::remove_all(aside_, ignored);
    else
      fs::rename(aside_, dir_, ignored);
  }
  Replaced(const Replaced&) = delete;
  Replaced& operator=(const Replaced&) = delete;
  void done() { done_ = true; }

 private:
  fs::path dir_;
  fs::path aside_;
  bool done_ = false;
};

}  // namespace

std::string free_directory(const TrainFlags& flags, bool overwrite) {
  fs::path path(flags.dataset);
  if (!path.has_filename()) path = path.parent_path();
  const std::string name = path.filename().string();
  const std::string model =
      flags.model.empty() ? fs::path(flags.config).stem().string() : flags.model;
  const std::string base = fmt::format("runs/{}-{}", name.empty() ? "dataset" : name, model);
  std::string out = base;
  for (int k = 2; !may_begin(out, overwrite); ++k) out = fmt::format("{}-{}", base, k);
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
  Replaced replaced(dir, o.overwrite);
  if (o.seeds == 1) {
    torch_module().create_runs(dataset, flags, {{dir, common.seed}});
    replaced.done();
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
  replaced.done();
  return runs;
}

}  // namespace egc::cli
