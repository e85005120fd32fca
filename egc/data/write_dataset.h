// A Dataset as a directory in the Open Graph Benchmark's raw layout, gzip csv: any tool reads it.
#pragma once

#include <filesystem>
#include <functional>

#include "egc/data/dataset.h"

namespace egc::data {

// Fills a new directory through a temporary one beside it: `dir` exists whole or not at all. Throws
// kUsage where `dir` exists and has something in it.
void create_directory_whole(const std::filesystem::path& dir,
                            const std::function<void(const std::filesystem::path&)>& fill);

// The same dataset gives the same bytes.
void write_dataset(const Dataset& dataset, const std::filesystem::path& dir);

// The files of a dataset into a directory that exists.
void write_dataset_files(const Dataset& dataset, const std::filesystem::path& dir);

}  // namespace egc::data
