#include "egc/train/run_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "egc/core/atomic_file.h"
#include "egc/core/error.h"
#include "egc/core/json_parse.h"

namespace egc::train {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

// Temporary files of a process that was killed while it wrote.
void remove_leftovers(const fs::path& dir) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(dir, ignored))
    if (entry.path().filename().string().find(".tmp.") != std::string::npos)
      fs::remove(entry.path(), ignored);
}

}  // namespace

RunDirectory::RunDirectory(fs::path path) : path_(std::move(path)) {
  const std::string name = (path_ / "lock").string();
  lock_ = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (lock_ < 0) fail(ErrorKind::kSystem, "{}: cannot be opened: {}", name, std::strerror(errno));
  if (flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    close(lock_);
    fail(ErrorKind::kUsage, "{}: another process is training in this directory", path_.string());
  }
  remove_leftovers(path_);
}

RunDirectory RunDirectory::create(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) fail(ErrorKind::kSystem, "{}: cannot be created: {}", path.string(), error.message());
  RunDirectory dir(path);
  for (const auto& entry : fs::directory_iterator(path, error)) {
    const std::string name = entry.path().filename().string();
    check(name == "lock",
          "{}: there is \"{}\" already; --resume {} goes on with a run, another "
          "--out starts a new one",
          path.string(), name, path.string());
  }
  return dir;
}

RunDirectory RunDirectory::open(const fs::path& path) {
  std::error_code ignored;
  check(fs::is_regular_file(path / "config.json", ignored), "{}: no run: there is no config.json",
        path.string());
  return RunDirectory(path);
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

std::string dataset_checksum_of(const fs::path& config) {
  std::ifstream file(config);
  std::ostringstream text;
  text << file.rdbuf();
  const Json json = parse_json<Json>(text.str(), config.string(), ErrorKind::kUsage);
  const auto about = json.find("about");
  if (about == json.end() || !about->is_object()) return "";
  return about->value("dataset_checksum", "");
}

}  // namespace egc::train
