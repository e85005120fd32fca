#include "egc/data/raw/cache.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>

#include "egc/core/error.h"
#include "egc/core/hash64.h"
#include "egc/core/log.h"
#include "egc/data/dataset_tensors.h"
#include "egc/data/raw/table_files.h"

namespace egc::data {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCacheVersion =
    "2";  // another layout of the file, or other meanings: count up

std::optional<Dataset> load_file(const fs::path& path, const std::string& stamp) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return std::nullopt;
  try {
    auto file = std::make_shared<const SafetensorsFile>(path);
    const auto& metadata = file->metadata();
    const auto value = [&](const char* key) {
      const auto it = metadata.find(key);
      return it == metadata.end() ? std::string() : it->second;
    };
    if (value("egc_dataset_cache") != kCacheVersion || value("stamp") != stamp) return std::nullopt;
    check_data(value("checksum") == checksum(file->tensors(), value("structure")),
               "the checksum does not match");
    Dataset d = with_structure(value("structure"), path.string());
    visit_arrays(d, LoadTensors{std::move(file)});
    check_dataset(d, path.string());  // a checksum keeps out accidents, not intentions
    return d;
  } catch (const std::exception& e) {
    log_warning("{}: rebuilding the corrupt cache: {}", path.string(), e.what());
    return std::nullopt;
  }
}

}  // namespace

std::string source_stamp(const fs::path& dir) {
  std::vector<std::string> lines;
  const auto add = [&](const fs::path& path) {
    struct stat info {};
    if (stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return;
    lines.push_back(fmt::format("{} {} {}.{:09}", path.lexically_relative(dir).string(),
                                info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec));
  };
  add(dir / "dataset.json");
  lines.push_back(folder_name(dir));  // it tells what a published dataset is
  // Links to folders are followed, as reading does; not in circles.
  constexpr int kDeepest = 8;
  std::error_code error;
  for (const char* part : {"raw", "split"})
    for (fs::recursive_directory_iterator
             it(dir / part, fs::directory_options::follow_directory_symlink, error),
         end;
         it != end; it.increment(error)) {
      if (error) break;
      if (it.depth() >= kDeepest) it.disable_recursion_pending();
      add(it->path());
    }
  std::sort(lines.begin(), lines.end());
  // Names may be any bytes, metadata must be UTF-8.
  const std::string text = fmt::format("{}", fmt::join(lines, "\n"));
  return fmt::format("{} files {:016x}", lines.size(), hash64(text.data(), text.size()));
}

std::vector<fs::path> cache_paths(const fs::path& dir) {
  std::vector<fs::path> out = {dir / ".egc-cache.safetensors"};
  std::error_code error;
  const std::string key = fs::weakly_canonical(dir, error).string();
  const char* home = std::getenv("HOME");
  const char* xdg = std::getenv("XDG_CACHE_HOME");
  const fs::path user = xdg != nullptr && *xdg != 0     ? fs::path(xdg)
                        : home != nullptr && *home != 0 ? fs::path(home) / ".cache"
                                                        : fs::path();
  if (!error && !user.empty())
    out.push_back(user / "egc" / "parsed" /
                  fmt::format("{:016x}.safetensors", hash64(key.data(), key.size())));
  return out;
}

std::optional<Dataset> load_cache(const fs::path& dir, const std::string& stamp) {
  for (const fs::path& path : cache_paths(dir))
    if (auto d = load_file(path, stamp)) return d;
  return std::nullopt;
}

std::string dataset_checksum(const Dataset& dataset) {
  if (!dataset.checksum_of_dataset.empty()) return dataset.checksum_of_dataset;
  StoreTensors store;
  visit_arrays(dataset, store);
  // Datasets without weights keep the checksum that they had before there were any.
  if (dataset.edge_weights.empty()) store.tensors.erase(stored_name<float>("edge_weights"));
  return checksum(store.tensors, structure_of(dataset, NoUtf8::kReplace));
}

void store_cache(const fs::path& dir, const std::string& stamp, const Dataset& dataset) {
  std::string reason;
  try {
    const std::string structure = structure_of(dataset);
    // Names that are no UTF-8 do not survive JSON; such a dataset goes without a cache.
    check_data(with_structure(structure, dir.string()).info == dataset.info,
               "its name is not valid UTF-8");
    StoreTensors store;
    visit_arrays(dataset, store);
    const std::map<std::string, std::string> metadata = {
        {"egc_dataset_cache", kCacheVersion},
        {"stamp", stamp},
        {"structure", structure},
        {"checksum", checksum(store.tensors, structure)}};
    for (const fs::path& path : cache_paths(dir)) {
      try {
        if (path.parent_path() != dir) fs::create_directories(path.parent_path());
        write_safetensors(path, store.tensors, metadata, Sync::kNo);
        return;
      } catch (const std::exception& e) {
        reason = e.what();
      }
    }
  } catch (const std::exception& e) {
    reason = e.what();
  }
  log_message(LogLevel::kInfo, fmt::format("cannot cache {}: {}", dir.string(), reason));
}

}  // namespace egc::data
