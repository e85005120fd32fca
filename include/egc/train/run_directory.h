// The files of a run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "egc/train/progress.h"
#include "egc/train/run_config.h"

namespace egc::train {

// What config.json tells beside the configuration.
struct RunAbout {
  std::string version;
  std::string instruction_set;
  int threads = 0;
  std::string dataset_checksum;
};

class RunDirectory {
 public:
  // A new one, which must not exist or be empty; refuses with what is there.
  static RunDirectory create(const std::filesystem::path& path);
  // One that a run began in.
  static RunDirectory open(const std::filesystem::path& path);
  ~RunDirectory();
  RunDirectory(RunDirectory&& other) noexcept;
  RunDirectory& operator=(const RunDirectory&) = delete;

  static constexpr const char* kLock = "lock";
  static constexpr const char* kFiles[] = {
      "config.json", "last.ckpt", "best.safetensors", "metrics.jsonl", "events.out.tfevents.0.egc",
      "report.html"};

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path config() const { return path_ / kFiles[0]; }
  std::filesystem::path checkpoint() const { return path_ / kFiles[1]; }
  std::filesystem::path model() const { return path_ / kFiles[2]; }
  std::filesystem::path metrics() const { return path_ / kFiles[3]; }
  std::filesystem::path events() const { return path_ / kFiles[4]; }
  std::filesystem::path report() const { return path_ / kFiles[5]; }

  void write_config(const RunConfig& config, const RunAbout& about) const;

 private:
  explicit RunDirectory(std::filesystem::path path);

  std::filesystem::path path_;
  int lock_ = -1;  // held while a process works here; the system lets go of it whatever happens
};

}  // namespace egc::train
