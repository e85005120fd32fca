// Running the cells of a table that have not been run, each in a process of its own.
#pragma once

#include <csignal>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "egc/app/session.h"
#include "egc/reproduce/records.h"

namespace egc::app {

struct ReproduceOptions {
  std::string out = "reproduce";
  std::optional<int64_t> seeds;  // 1 where something is run, all where it is shown
  int64_t jobs = 1;
  int64_t reps = 5;  // of benchmarks
  reproduce::Override change;
};

// What a cell that has a configuration is run with, complete.
nlohmann::ordered_json cell_config(const reproduce::Table& table, const reproduce::Cell& cell,
                                   const reproduce::Override& change);

// Why cells of a dataset cannot be run here; nothing for those that can. Throws where a stand-in is
// not there.
std::map<std::string, std::string> missing_datasets(
    const reproduce::Table& table, const std::vector<const reproduce::Cell*>& cells,
    const ReproduceOptions& options, const Session& session);

// Runs what has no record yet, and benchmarks that were measured in fewer rounds. A cell that fails
// leaves the others alone; the first failure is thrown at the end. False where `stop` ended it.
bool run_missing_cells(const reproduce::Table& table,
                       const std::vector<const reproduce::Cell*>& cells,
                       const std::map<std::string, std::string>& missing,
                       const ReproduceOptions& options, const Session& session,
                       const volatile std::sig_atomic_t* stop);

}  // namespace egc::app
