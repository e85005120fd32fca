// A dataset of the paper from its publisher: downloaded, unpacked safely, converted where it comes
// as Python objects, checked against the published figures.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "egc/data/dataset_table.h"
#include "egc/fetch/download.h"

namespace egc::fetch {

struct FetchOptions {
  std::filesystem::path data_dir;
  std::string
      mirror;  // an address that has the same files under their own names; empty: publishers
  bool check_published = true;
  // Told what is being done, and how far it is.
  std::function<void(const std::string& what, int64_t done, int64_t total)> progress;
};

// The directory of the dataset. Does nothing where it is there already.
std::filesystem::path fetch_dataset(const data::KnownDataset& known, const FetchOptions& options);

}  // namespace egc::fetch
