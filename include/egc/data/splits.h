// Splits into training, validation and test set: reading, checking and drawing them.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "egc/data/dataset.h"

namespace egc::data {

// Throws kData unless ids are in [0, items) and unique, and training and test set are not empty.
// `where` begins the message.
void check_split(const Split& split, int64_t items, const std::string& where);

// A random split. fractions: of training, validation and test set, with sum 1. The ids of each set
// are ascending.
Split random_split(int64_t items, std::array<double, 3> fractions, uint64_t seed);

// The first `train` ids, the next `valid`, the next `test`: for data in random order.
Split ranges_split(const std::string& name, int64_t train, int64_t valid, int64_t test);

// Moves a random fraction of the training set to the validation set.
Split cut_valid(const Split& split, double fraction, uint64_t seed);

// A split of the dataset; if it has no validation set, a tenth of the training set becomes one.
Split with_valid(const Dataset& dataset, const std::string& name);

// Reads and checks all splits below `dir`/split. Throws kData with file and line. Layouts of
// `split/<name>/`:
//     {train,valid,test}.csv[.gz]     one id per line; in a folder <type>/ if nodes have types
//     {train,test}_idx-<k>.txt[.gz]   fold k, one id per line (TU sets of DGCNN)
//     {train,val,test}.index[.gz]     one line per fold, comma-separated (benchmarking-gnns)
// Folds become splits `<name>-<k>`.
std::vector<Split> read_splits(const std::filesystem::path& dir, int64_t items,
                               const std::string& target_type);

// A line of ids.
struct IndexLine {
  Array<int64_t> ids;  // in the line's order
  int64_t line = 0;    // number of the line in the file
};
// Reads lines of comma-separated ids; empty lines are skipped.
std::vector<IndexLine> read_index_lines(const std::filesystem::path& path);

}  // namespace egc::data
