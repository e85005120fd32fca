#include "egc/data/cache.h"

#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>

#include "egc/core/error.h"
#include "egc/core/json_parse.h"
#include "egc/core/log.h"
#include "egc/core/parallel.h"
#include "egc/core/safetensors.h"
#include "egc/data/table_files.h"

namespace egc::data {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kVersion = "1";  // another layout of the file, or other meanings: count up

template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, int64_t>) return DType::kI64;
  if constexpr (std::is_same_v<T, int32_t>) return DType::kI32;
  if constexpr (std::is_same_v<T, float>) return DType::kF32;
  return DType::kU8;  // uint8_t, char
}

// The file stores tensors by name. Wide types first keeps all of them aligned.
template <class T>
std::string stored_name(const std::string& name) {
  return fmt::format("{}.{}", 9 - sizeof(T), name);
}

// Of everything that a reader believes: names, types, shapes, values, and what is not an array.
// Values are hashed in pieces, in parallel, then the hashes are.
std::string checksum(const std::map<std::string, TensorView>& tensors,
                     const std::string& structure) {
  constexpr size_t kPiece = 1 << 20;
  std::string summary = structure;
  std::vector<std::span<const std::byte>> pieces;
  for (const auto& [name, tensor] : tensors) {
    summary += fmt::format("\n{} {} {}", name, name_of(tensor.dtype), tensor.shape);
    for (size_t at = 0; at < tensor.data.size(); at += kPiece)
      pieces.push_back(tensor.data.subspan(at, std::min(kPiece, tensor.data.size() - at)));
  }
  std::vector<uint64_t> hashes(pieces.size());
  parallel_tasks(static_cast<int64_t>(pieces.size()),
                 [&](int64_t k) { hashes[k] = XXH3_64bits(pieces[k].data(), pieces[k].size()); });
  const uint64_t all = XXH3_64bits(hashes.data(), hashes.size() * sizeof(uint64_t));
  return fmt::format("{:016x}{:016x}", XXH3_64bits(summary.data(), summary.size()), all);
}

// What is not an array.
json structure_of(const Dataset& d) {
  json out = {{"info", to_json(d.info)}, {"splits", json::array()}};
  for (const Split& split : d.splits) out["splits"].push_back(split.name);
  if (!d.hetero.empty()) {
    json relations = json::array();
    for (const auto& r : d.hetero.schema.relations)
      relations.push_back({{"name", r.name}, {"source", r.source}, {"target", r.target}});
    out["hetero"] = {{"types", d.hetero.schema.node_types},
                     {"nodes", d.hetero.num_nodes},
                     {"target", d.hetero.target_type},
                     {"relations", relations}};
  }
  return out;
}

Dataset with_structure(const json& structure, const std::string& where) {
  Dataset d;
  d.info = parse_info(structure.at("info").get<std::string>(), where).info;
  for (const json& name : structure.at("splits"))
    d.splits.push_back({name.get<std::string>(), {}, {}, {}});
  if (structure.contains("hetero")) {
    const json& h = structure["hetero"];
    d.hetero.schema.node_types = h.at("types").get<std::vector<std::string>>();
    d.hetero.num_nodes = h.at("nodes").get<std::vector<int64_t>>();
    d.hetero.target_type = h.at("target").get<int64_t>();
    for (const json& r : h.at("relations"))
      d.hetero.schema.relations.push_back({r.at("name").get<std::string>(),
                                           r.at("source").get<int64_t>(),
                                           r.at("target").get<int64_t>()});
    d.hetero.features.resize(d.hetero.num_nodes.size());
    d.hetero.edges.resize(d.hetero.schema.relations.size());
  }
  return d;
}

struct StoreTensors {
  std::map<std::string, TensorView> tensors;

  template <class T>
  void operator()(const std::string& name, const Array<T>& a) {
    tensors[stored_name<T>(name)] = {dtype_of<T>(), {a.size()}, std::as_bytes(a.span())};
  }
  template <class T>
  void operator()(const std::string& name, const Matrix<T>& m) {
    tensors[stored_name<T>(name)] = {
        dtype_of<T>(), {m.rows(), m.columns}, std::as_bytes(m.values.span())};
  }
};

struct LoadTensors {
  std::shared_ptr<const SafetensorsFile> file;

  template <class T>
  Array<T> array(const std::string& name, const TensorView& t) const {
    check_data(
        t.dtype == dtype_of<T>() && reinterpret_cast<uintptr_t>(t.data.data()) % alignof(T) == 0,
        "tensor \"{}\" has another type than expected", name);
    return {file, {reinterpret_cast<const T*>(t.data.data()), t.data.size() / sizeof(T)}};
  }
  template <class T>
  void operator()(const std::string& name, Array<T>& to) const {
    to = array<T>(name, file->at(stored_name<T>(name)));
  }
  template <class T>
  void operator()(const std::string& name, Matrix<T>& to) const {
    const TensorView& t = file->at(stored_name<T>(name));
    check_data(t.shape.size() == 2, "tensor \"{}\" must have two dimensions", name);
    to = {array<T>(name, t), t.shape[1]};
  }
};

std::optional<Dataset> load_file(const fs::path& path, const std::string& stamp) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return std::nullopt;
  try {
    auto file = std::make_shared<const SafetensorsFile>(path);
    const auto& metadata = file->metadata();
    const auto value = [&](const char* key) {
      const auto it = metadata.find(key);
      return it == metadata.end() ? std::string() : it->second;
    };
    if (value("egc_dataset_cache") != kVersion || value("stamp") != stamp) return std::nullopt;
    check_data(value("checksum") == checksum(file->tensors(), value("structure")),
               "the checksum does not fit");
    Dataset d = with_structure(
        parse_json<json>(value("structure"), path.string(), ErrorKind::kData), path.string());
    visit_arrays(d, LoadTensors{std::move(file)});
    check_dataset(d, path.string());  // a checksum keeps out accidents, not intentions
    return d;
  } catch (const std::exception& e) {
    log_warning("{}: the cache is damaged and made anew: {}", path.string(), e.what());
    return std::nullopt;
  }
}

}  // namespace

std::string source_stamp(const fs::path& dir) {
  std::vector<std::string> lines;
  const auto add = [&](const fs::path& path) {
    struct stat info {};
    if (stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return;
    lines.push_back(fmt::format("{} {} {}.{:09}", path.lexically_relative(dir).string(),
                                info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec));
  };
  add(dir / "dataset.json");
  lines.push_back(folder_name(dir));  // it tells what a published dataset is
  // Links to folders are followed, as reading does; not in circles.
  constexpr int kDeepest = 8;
  std::error_code error;
  for (const char* part : {"raw", "split"})
    for (fs::recursive_directory_iterator
             it(dir / part, fs::directory_options::follow_directory_symlink, error),
         end;
         it != end; it.increment(error)) {
      if (error) break;
      if (it.depth() >= kDeepest) it.disable_recursion_pending();
      add(it->path());
    }
  std::sort(lines.begin(), lines.end());
  // Names may be any bytes, metadata must be UTF-8.
  const std::string text = fmt::format("{}", fmt::join(lines, "\n"));
  return fmt::format("{} files {:016x}", lines.size(), XXH3_64bits(text.data(), text.size()));
}

std::vector<fs::path> cache_paths(const fs::path& dir) {
  std::vector<fs::path> out = {dir / ".egc-cache.safetensors"};
  std::error_code error;
  const std::string key = fs::weakly_canonical(dir, error).string();
  const char* home = std::getenv("HOME");
  const char* xdg = std::getenv("XDG_CACHE_HOME");
  const fs::path user = xdg != nullptr && *xdg != 0     ? fs::path(xdg)
                        : home != nullptr && *home != 0 ? fs::path(home) / ".cache"
                                                        : fs::path();
  if (!error && !user.empty())
    out.push_back(user / "egc" / "parsed" /
                  fmt::format("{:016x}.safetensors", XXH3_64bits(key.data(), key.size())));
  return out;
}

std::optional<Dataset> load_cache(const fs::path& dir, const std::string& stamp) {
  for (const fs::path& path : cache_paths(dir))
    if (auto d = load_file(path, stamp)) return d;
  return std::nullopt;
}

std::string dataset_checksum(const Dataset& dataset) {
  StoreTensors store;
  visit_arrays(dataset, store);
  return checksum(store.tensors,
                  structure_of(dataset).dump(-1, ' ', false, json::error_handler_t::replace));
}

void store_cache(const fs::path& dir, const std::string& stamp, const Dataset& dataset) {
  std::string reason;
  try {
    const std::string structure = structure_of(dataset).dump();
    // Names that are no UTF-8 do not survive JSON; such a dataset goes without a cache.
    check_data(with_structure(json::parse(structure), dir.string()).info == dataset.info,
               "its name is no UTF-8");
    StoreTensors store;
    visit_arrays(dataset, store);
    const std::map<std::string, std::string> metadata = {
        {"egc_dataset_cache", kVersion},
        {"stamp", stamp},
        {"structure", structure},
        {"checksum", checksum(store.tensors, structure)}};
    for (const fs::path& path : cache_paths(dir)) {
      try {
        if (path.parent_path() != dir) fs::create_directories(path.parent_path());
        write_safetensors(path, store.tensors, metadata, Sync::kNo);
        return;
      } catch (const std::exception& e) {
        reason = e.what();
      }
    }
  } catch (const std::exception& e) {
    reason = e.what();
  }
  log_message(LogLevel::kInfo, fmt::format("no cache of {}: {}", dir.string(), reason));
}

}  // namespace egc::data
