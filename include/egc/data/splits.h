// Splits: reading the layouts that exist, checking them, making new ones.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "egc/data/dataset.h"

namespace egc::data {

// Throws kData unless ids lie in [0, items), train and test have some, and none comes twice.
void check_split(const Split& split, int64_t items, const std::string& where);

// Fractions of train, valid and test that add up to 1, of shuffled ids; each part ascending.
Split random_split(int64_t items, std::array<double, 3> fractions, uint64_t seed);

// The first `train` ids, the next `valid`, the next `test`: for sets whose order is by chance.
Split ranges_split(const std::string& name, int64_t train, int64_t valid, int64_t test);

// Without a validation set: one cut from train, `fraction` of it, by chance but the same for a
// seed.
Split cut_valid(const Split& split, double fraction, uint64_t seed);

// A split of the dataset; without a validation set, a tenth of train is cut off for it.
Split with_valid(const Dataset& dataset, const std::string& name);

// All splits below `dir`/split, checked, errors with file and line. Layouts of split/<name>/:
//   {train,valid,test}.csv[.gz]        one id a line; in a folder <type>/ where nodes have types
//   {train,test}_idx-<k>.txt[.gz]      folds k, one id a line (TU sets of DGCNN)
//   {train,val,test}.index[.gz]        a line per fold, comma separated (benchmarking-gnns)
// Folds become splits <name>-<k>.
std::vector<Split> read_splits(const std::filesystem::path& dir, int64_t items,
                               const std::string& target_type);

// Lines of comma-separated ids; empty ones are skipped.
struct IndexLine {
  Array<int64_t> ids;
  int64_t line = 0;
};
std::vector<IndexLine> read_index_lines(const std::filesystem::path& path);

}  // namespace egc::data
