// Finding a table under the names it may have.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>

#include "egc/data/dataset.h"

namespace egc::data {

// The last part of the path, also of "data/" and of ".".
std::string folder_name(const std::filesystem::path& dir);

// `stem` with one of the endings, the first that exists.
std::optional<std::filesystem::path> find_file(const std::filesystem::path& dir,
                                               const std::string& stem,
                                               std::initializer_list<const char*> endings);

// stem.csv.gz or stem.csv.
std::optional<std::filesystem::path> find_table(const std::filesystem::path& dir,
                                                const std::string& stem);
// Throws kData with both names where neither exists.
std::filesystem::path need_table(const std::filesystem::path& dir, const std::string& stem);

// Features from stem.csv.gz, .csv or .npy with one row for each of `rows`; nothing where there is
// no such file. Without a given kind, whole numbers are categories. `categories` holds the allowed
// number of each column, or is filled in when it is empty.
Features read_features(const std::filesystem::path& dir, const std::string& stem, int64_t rows,
                       const char* rows_are, std::optional<FeatureKind> kind,
                       std::vector<int64_t>& categories);

// Warns of features and weights of edges that are there and are not read.
void ignore_edge_files(const std::filesystem::path& dir, const char* why);

}  // namespace egc::data
