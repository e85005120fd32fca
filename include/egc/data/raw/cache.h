// A binary copy of a parsed dataset, mapped instead of parsed the next time.
//
// It is a safetensors file beside the data (in the user's cache directory where that place cannot
// be written), with the version of the format, a stamp of the source files (names, sizes, times of
// change) and a checksum. Whatever does not fit is ignored and written anew; writers rename a
// finished file into place, so two processes at once do no harm.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "egc/data/dataset.h"

namespace egc::data {

std::string source_stamp(const std::filesystem::path& dir);
std::optional<Dataset> load_cache(const std::filesystem::path& dir, const std::string& stamp);
// A cache that cannot be written is no error: it is logged.
void store_cache(const std::filesystem::path& dir, const std::string& stamp,
                 const Dataset& dataset);

// Of everything in it: two datasets with the same are the same. Of a part: that of the whole.
std::string dataset_checksum(const Dataset& dataset);

// Where a dataset's cache would be: beside the data, and else.
std::vector<std::filesystem::path> cache_paths(const std::filesystem::path& dir);

}  // namespace egc::data
