#include "egc/reproduce/records.h"

#include <fnmatch.h>

#include <set>

#include "egc/core/claim_file.h"
#include "egc/core/error.h"
#include "egc/core/json_parse.h"

namespace egc::reproduce {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// Names of stand-ins may be paths.
std::string as_folder(const std::string& dataset) {
  const fs::path path = fs::absolute(dataset).lexically_normal();
  return (path.has_filename() ? path : path.parent_path()).filename().string();
}

constexpr const char* kOtherConfig =
    "belongs to another configuration; move it away, or choose another --out";

// Of the data that a training saw; null of benchmarks and of what is no record.
Json checksum_of(const Json& record) {
  return record.value("/config/about/dataset_checksum"_json_pointer, Json());
}

}  // namespace

std::string Override::page_name() const {
  std::string out = "report";
  for (const auto& [dataset, instead] : stand_ins)
    out += fmt::format("-{}-as-{}", dataset, as_folder(instead));
  if (epochs) out += fmt::format("-{}-epochs", *epochs);
  return out + ".html";
}

CellDirectory::CellDirectory(const fs::path& out, const Table& table, const Cell& cell,
                             const Override& change) {
  const std::string dataset = as_folder(change.dataset_of(cell));
  switch (table.measure) {
    case Measure::kTraining:
      path_ = out / dataset /
              (change.epochs ? fmt::format("{}-{}-epochs", cell.row, *change.epochs) : cell.row);
      break;
    case Measure::kEpoch:
      path_ = out / dataset / fmt::format("{}-epoch-time-{}-threads", cell.row, change.threads);
      break;
    case Measure::kFusion:
      path_ = out / dataset / fmt::format("fusion-{}-threads", change.threads);
      break;
  }
}

void CellDirectory::write_config(const Json& config) const {
  check_config(config);
  claim_file(this->config(), config.dump(2) + "\n", kOtherConfig);
}

void CellDirectory::check_config(const Json& config) const {
  if (!fs::exists(this->config())) return;
  const Json begun = read_json_file<Json>(this->config().string(), ErrorKind::kData);
  check_data(begun.is_object(), "{}: not a configuration", this->config().string());
  const Json before = begun.value("dataset", Json());
  const Json now = config.value("dataset", Json());
  check(before == now || before.is_null(), "{}: was run on {}, not on {}; choose another --out",
        path_.string(), before.dump(), now.dump());
  check(begun == config, "{}: {}", this->config().string(), kOtherConfig);
}

Json config_of(const Table& table, const Cell& cell, const Json& file, const Override& change) {
  Json config = file;
  if (!cell.change.is_null()) config.merge_patch(cell.change);
  config["dataset"] = change.dataset_of(cell);
  if (change.epochs && table.measure == Measure::kTraining)
    config["train"]["epochs"] = *change.epochs;
  return config;
}

Json read_record(const fs::path& path) {
  Json record = read_json_file<Json>(path.string(), ErrorKind::kData);
  const auto result = record.find("result");
  check_data(result != record.end() && result->is_object(), "{}: not a record of a cell",
             path.string());
  return record;
}

std::vector<Json> results_of(const CellDirectory& dir, const Table& table, const Cell& cell,
                             uint64_t first_seed, std::optional<int64_t> seeds) {
  std::vector<Json> out;
  Json checksum;
  const auto add = [&](const fs::path& path) {
    if (!fs::exists(path)) return;
    const Json record = read_record(path);
    const Json& result = record.at("result");
    if (out.empty()) checksum = checksum_of(record);
    check_data(checksum_of(record) == checksum,
               "{}: was trained on different data of the same name than the other seeds; move one "
               "of them away",
               path.string());
    if (table.measure != Measure::kFusion)
      out.push_back(result);
    else if (const auto row = result.find(cell.row); row != result.end())
      out.push_back(*row);
  };
  if (table.measure != Measure::kTraining) {
    add(dir.measured());
  } else if (seeds) {
    for (int64_t k = 0; k < *seeds; ++k) add(dir.record(first_seed + static_cast<uint64_t>(k)));
  } else {
    std::set<fs::path> records;  // in an order that does not depend on the file system
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(dir.path(), none))
      if (fnmatch("seed-*.json", entry.path().filename().c_str(), 0) == 0)
        records.insert(entry.path());
    for (const fs::path& record : records) add(record);
  }
  return out;
}

}  // namespace egc::reproduce
