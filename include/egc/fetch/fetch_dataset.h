// Published datasets: downloaded, unpacked, converted, and compared with the published figures.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "egc/data/dataset_table.h"
#include "egc/fetch/download.h"

namespace egc::fetch {

// Options of fetch_dataset().
struct FetchOptions {
  std::filesystem::path data_dir;  // where datasets are stored
  // Address that has the same files under their own names; empty: the publishers'.
  std::string mirror;
  bool check_published = true;  // compare with the published figures
  // Called with the current action and its progress.
  std::function<void(const std::string& what, int64_t done, int64_t total)> progress;
};

// Returns the directory of a dataset; downloads it if it does not exist. Throws as download().
std::filesystem::path fetch_dataset(const data::KnownDataset& known, const FetchOptions& options);

}  // namespace egc::fetch
