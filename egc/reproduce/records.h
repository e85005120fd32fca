// What came of the cells, kept in files: one directory for each, one record for each time it was
// run. A record holds everything needed to repeat it. Tables share cells, and so share records.
//
//   OUT/<dataset>/<row>/config.json      what is run
//   OUT/<dataset>/<row>/seed-0/          a run of `egc train`
//   OUT/<dataset>/<row>/seed-0.json      its record, written when it has ended
//   OUT/<dataset>/<row>-epoch-time-<threads>-threads/measured.json    the record of a benchmark
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "egc/core/statistics.h"
#include "egc/reproduce/paper_table.h"

namespace egc::reproduce {

// Settings of the whole command that make a cell another one; they become part of its directory's
// name.
struct Override {
  std::optional<int64_t> epochs;                 // of trainings
  int threads = 1;                               // of benchmarks
  std::map<std::string, std::string> stand_ins;  // datasets of tables and what is taken for them

  const std::string& dataset_of(const Cell& cell) const {
    const auto it = stand_ins.find(cell.dataset);
    return it == stand_ins.end() ? cell.dataset : it->second;
  }
  // Of the page with what was run so: report.html, report-20-epochs.html, ...
  std::string page_name() const;
};

class CellDirectory {
 public:
  CellDirectory(const std::filesystem::path& out, const Table& table, const Cell& cell,
                const Override& change);

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path config() const { return path_ / "config.json"; }
  std::filesystem::path run(uint64_t seed) const { return path_ / fmt::format("seed-{}", seed); }
  std::filesystem::path record(uint64_t seed) const {
    return path_ / fmt::format("seed-{}.json", seed);
  }
  std::filesystem::path measured() const { return path_ / "measured.json"; }

  // Writes it; refuses to where another one is there.
  void write_config(const nlohmann::ordered_json& config) const;
  // Throws kUsage where it was filled with another one, or with another dataset of the same name.
  void check_config(const nlohmann::ordered_json& config) const;

 private:
  std::filesystem::path path_;
};

// The configuration of a cell: the file's, changed, with the dataset that is meant.
nlohmann::ordered_json config_of(const Table& table, const Cell& cell,
                                 const nlohmann::ordered_json& file, const Override& change);

// A record, which has an object "result". Throws kData where it is none.
nlohmann::ordered_json read_record(const std::filesystem::path& path);

// The results of a cell's records that are there: of `seeds` seeds from `first_seed` on, or of all.
// Throws kData where they are damaged, or of different data under the dataset's name.
std::vector<nlohmann::ordered_json> results_of(const CellDirectory& dir, const Table& table,
                                               const Cell& cell, uint64_t first_seed,
                                               std::optional<int64_t> seeds);

}  // namespace egc::reproduce
