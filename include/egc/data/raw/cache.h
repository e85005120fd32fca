// The binary cache of parsed datasets: a safetensors file beside the data, or in the user's cache
// directory if that is read-only. It stores a format version, a stamp of the source files (names,
// sizes, modification times) and a checksum. Outdated or damaged caches are ignored and rewritten,
// atomically.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "egc/data/dataset.h"

namespace egc::data {

// The stamp of a dataset's files.
std::string source_stamp(const std::filesystem::path& dir);
// The cached dataset; nothing if there is no valid cache with this stamp.
std::optional<Dataset> load_cache(const std::filesystem::path& dir, const std::string& stamp);
// Writes the cache. Failures are logged, not thrown.
void store_cache(const std::filesystem::path& dir, const std::string& stamp,
                 const Dataset& dataset);

// A checksum of the whole content: equal for equal datasets. Of a partition: that of the complete
// dataset.
std::string dataset_checksum(const Dataset& dataset);

// Where the cache of a dataset may be: beside the data, then in the user's cache directory.
std::vector<std::filesystem::path> cache_paths(const std::filesystem::path& dir);

}  // namespace egc::data
