// A Dataset as a directory in the Open Graph Benchmark's raw layout, gzip csv: any tool reads it.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "egc/data/dataset.h"

namespace egc::data {

// Throws kUsage where `dir` exists and has something in it.
void check_new_directory(const std::filesystem::path& dir);

// Throws kSystem.
void write_text_file(const std::filesystem::path& path, const std::string& text);

// A mapping as OGB has it: a header, then number and word.
void write_words(const std::filesystem::path& path, const std::string& what,
                 const std::vector<std::string>& words);

// Fills a new directory through a temporary one beside it: `dir` exists whole or not at all.
void create_directory_whole(const std::filesystem::path& dir,
                            const std::function<void(const std::filesystem::path&)>& fill);

// The same dataset gives the same bytes.
void write_dataset(const Dataset& dataset, const std::filesystem::path& dir);

// The files of a dataset into a directory that exists.
void write_dataset_files(const Dataset& dataset, const std::filesystem::path& dir);

}  // namespace egc::data
