// Writing datasets in the Open Graph Benchmark's raw layout: gzip csv files that other tools can
// read.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "egc/data/dataset.h"

namespace egc::data {

// Throws kUsage if `dir` exists and is not empty.
void check_new_directory(const std::filesystem::path& dir);

// Writes a file. Throws kSystem.
void write_text_file(const std::filesystem::path& path, const std::string& text);

// Writes a mapping file as OGB has it: a header, then lines of number and word.
void write_words(const std::filesystem::path& path, const std::string& what,
                 const std::vector<std::string>& words);

// Creates a directory atomically: `fill` writes into a temporary one, which is then renamed.
void create_directory_whole(const std::filesystem::path& dir,
                            const std::function<void(const std::filesystem::path&)>& fill);

// Writes a dataset to a new directory. Equal datasets give equal bytes.
void write_dataset(const Dataset& dataset, const std::filesystem::path& dir);

// Writes the files of a dataset into an existing directory.
void write_dataset_files(const Dataset& dataset, const std::filesystem::path& dir);

}  // namespace egc::data
