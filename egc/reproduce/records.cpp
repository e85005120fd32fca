#include "egc/reproduce/records.h"

#include "egc/core/atomic_file.h"
#include "egc/core/error.h"
#include "egc/core/json_parse.h"
#include "egc/core/text_file.h"

namespace egc::reproduce {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Json read_json(const fs::path& path) {
  return parse_json<Json>(read_text_file(path.string(), ErrorKind::kData), path.string(),
                          ErrorKind::kData);
}

// Names of stand-ins may be paths.
std::string as_folder(const std::string& dataset) {
  fs::path path(dataset);
  if (!path.has_filename()) path = path.parent_path();
  return path.filename().string();
}

}  // namespace

CellDirectory::CellDirectory(const fs::path& out, const Table& table, const Cell& cell,
                             const Override& change) {
  const auto stand_in = change.stand_ins.find(cell.dataset);
  const std::string dataset =
      stand_in == change.stand_ins.end() ? cell.dataset : as_folder(stand_in->second);
  switch (table.measure) {
    case Measure::kTraining:
      path_ = out / dataset /
              (change.epochs ? fmt::format("{}-{}-epochs", cell.row, *change.epochs) : cell.row);
      break;
    case Measure::kEpoch:
      path_ = out / dataset / (cell.row + "-epoch-time");
      break;
    case Measure::kFusion:
      path_ = out / dataset / "fusion";
      break;
  }
}

void CellDirectory::write_config(const Json& config) const {
  if (fs::exists(this->config())) {
    check(read_json(this->config()) == config,
          "{}: was begun with another configuration; move it away, or choose another --out",
          path_.string());
    return;
  }
  std::error_code error;
  fs::create_directories(path_, error);
  if (error) fail(ErrorKind::kSystem, "{}: cannot be made: {}", path_.string(), error.message());
  write_whole_file(this->config(), config.dump(2) + "\n");
}

Json config_of(const Cell& cell, const Json& file, const Override& change) {
  Json config = file;
  if (!cell.change.is_null()) config.merge_patch(cell.change);
  if (change.epochs) config["train"]["epochs"] = *change.epochs;
  return config;
}

std::vector<Json> results_of(const CellDirectory& dir, const Table& table, const Cell& cell,
                             uint64_t first_seed, int64_t seeds) {
  std::vector<Json> out;
  const auto add = [&](const fs::path& path) {
    if (!fs::exists(path)) return;
    const Json record = read_json(path);
    const auto result = record.find("result");
    check_data(result != record.end() && result->is_object(), "{}: is no record of a cell",
               path.string());
    if (table.measure != Measure::kFusion)
      out.push_back(*result);
    else if (const auto row = result->find(cell.row); row != result->end())
      out.push_back(*row);
  };
  if (table.measure != Measure::kTraining) {
    add(dir.measured());
    return out;
  }
  for (int64_t k = 0; k < seeds; ++k) add(dir.record(first_seed + static_cast<uint64_t>(k)));
  return out;
}

}  // namespace egc::reproduce
