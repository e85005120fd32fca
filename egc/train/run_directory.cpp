#include "egc/train/run_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "egc/core/atomic_file.h"
#include "egc/core/error.h"

namespace egc::train {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

// A temporary file of a process that was killed while it wrote.
bool is_leftover(const std::string& name) {
  return std::any_of(
      std::begin(RunDirectory::kFiles), std::end(RunDirectory::kFiles),
      [&](const char* file) { return name.starts_with(std::string(file) + ".tmp."); });
}

void remove_leftovers(const fs::path& dir) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(dir, ignored))
    if (is_leftover(entry.path().filename().string())) fs::remove(entry.path(), ignored);
}

}  // namespace

RunDirectory::RunDirectory(fs::path path) : path_(std::move(path)) {
  const std::string name = (path_ / kLock).string();
  lock_ = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (lock_ < 0) fail(ErrorKind::kSystem, "{}: cannot be opened: {}", name, std::strerror(errno));
  if (flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    close(lock_);
    check(error != EWOULDBLOCK, "{}: another process is training in this directory",
          path_.string());
    fail(ErrorKind::kSystem, "{}: cannot be locked: {}", name, std::strerror(error));
  }
}

RunDirectory RunDirectory::create(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) fail(ErrorKind::kSystem, "{}: cannot be created: {}", path.string(), error.message());
  for (const auto& entry : fs::directory_iterator(path, error)) {
    const std::string name = entry.path().filename().string();
    check(name == kLock || is_leftover(name),
          "{}: already contains \"{}\"; continue the run with --resume {}, replace it with "
          "--overwrite, or choose another --out",
          path.string(), name, path.string());
  }
  RunDirectory dir(path);
  remove_leftovers(path);
  return dir;
}

RunDirectory RunDirectory::open(const fs::path& path) {
  std::error_code ignored;
  check(fs::is_regular_file(path / "config.json", ignored), "{}: not a run: it has no config.json",
        path.string());
  RunDirectory dir(path);
  remove_leftovers(path);
  return dir;
}

RunDirectory::~RunDirectory() {
  if (lock_ >= 0) close(lock_);
}

RunDirectory::RunDirectory(RunDirectory&& other) noexcept
    : path_(std::move(other.path_)), lock_(std::exchange(other.lock_, -1)) {}

void RunDirectory::write_config(const RunConfig& config_of_run, const RunAbout& about) const {
  Json json = Json::object();
  json["dataset"] = config_of_run.dataset;
  json["model"] = Json::parse(models::to_json(config_of_run.model));
  json["train"] = Json::parse(to_json(config_of_run.train));
  json["seed"] = config_of_run.seed;
  json["about"] = {{"version", about.version},
                   {"instruction_set", about.instruction_set},
                   {"threads", about.threads},
                   {"dataset_checksum", about.dataset_checksum}};
  write_whole_file(config(), json.dump(2) + "\n");
}

}  // namespace egc::train
