// The directory of a run and its files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "egc/train/progress.h"
#include "egc/train/run_config.h"

namespace egc::train {

// What config.json records beside the configuration.
struct RunAbout {
  std::string version;           // of the program
  std::string instruction_set;   // of the kernels: AVX3, AVX2, ...
  int threads = 0;               // number of threads
  std::string dataset_checksum;  // of the training data
};

// A locked run directory: no other process can train in it meanwhile.
class RunDirectory {
 public:
  // Creates a directory, which must not exist or be empty. Throws kUsage with what it contains.
  static RunDirectory create(const std::filesystem::path& path);
  // Opens the directory of an existing run.
  static RunDirectory open(const std::filesystem::path& path);
  ~RunDirectory();                              // unlocks
  RunDirectory(RunDirectory&& other) noexcept;  // moves the lock
  RunDirectory& operator=(const RunDirectory&) = delete;

  static constexpr const char* kLock = "lock";  // name of the lock file
  // Names of the files, in the order of the functions below.
  static constexpr const char* kFiles[] = {
      "config.json", "last.ckpt", "best.safetensors", "metrics.jsonl", "events.out.tfevents.0.egc",
      "report.html"};

  const std::filesystem::path& path() const { return path_; }  // of the directory
  // Network and training, JSON.
  std::filesystem::path config() const { return path_ / kFiles[0]; }
  // State after the last epoch.
  std::filesystem::path checkpoint() const { return path_ / kFiles[1]; }
  std::filesystem::path model() const { return path_ / kFiles[2]; }    // network of the best epoch
  std::filesystem::path metrics() const { return path_ / kFiles[3]; }  // one JSON line per epoch
  std::filesystem::path events() const { return path_ / kFiles[4]; }   // the same for TensorBoard
  std::filesystem::path report() const { return path_ / kFiles[5]; }   // HTML page

  void write_config(const RunConfig& config, const RunAbout& about) const;  // writes config.json

 private:
  explicit RunDirectory(std::filesystem::path path);

  std::filesystem::path path_;
  int lock_ = -1;  // held while a process works here; the system lets go of it whatever happens
};

}  // namespace egc::train
