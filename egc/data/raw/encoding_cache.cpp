#include "egc/data/raw/encoding_cache.h"

#include <filesystem>
#include <map>
#include <memory>

#include "egc/core/error.h"
#include "egc/core/log.h"
#include "egc/data/dataset_tensors.h"
#include "egc/data/raw/cache.h"

namespace egc::data {
namespace {

namespace fs = std::filesystem;

constexpr const char* kEncodingVersion = "1";  // other values for the same graph: count up
constexpr const char* kTensor = "encoding";

// .egc-cache.safetensors has .egc-cache.rwse-20.safetensors beside it.
std::vector<fs::path> encoding_paths(const Dataset& dataset, const NodeEncoding& encoding) {
  std::vector<fs::path> out = cache_paths(dataset.directory);
  const std::string end =
      fmt::format(".{}-{}.safetensors", encoding_kinds().name_of(encoding.kind), encoding.columns);
  for (fs::path& path : out) path.replace_filename(path.stem().string() + end);
  return out;
}

std::optional<Matrix<float>> load_encoding_file(const fs::path& path, const std::string& key,
                                                int64_t nodes, int64_t columns) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return std::nullopt;
  try {
    const auto file = std::make_shared<const SafetensorsFile>(path);
    const auto& metadata = file->metadata();
    const auto value = [&](const char* name) {
      const auto it = metadata.find(name);
      return it == metadata.end() ? std::string() : it->second;
    };
    if (value("egc_encoding_cache") != kEncodingVersion || value("graphs") != key)
      return std::nullopt;
    check_data(value("checksum") == checksum(file->tensors(), key), "the checksum does not match");
    const TensorView& t = file->at(kTensor);
    check_data(t.shape == std::vector<int64_t>{nodes, columns}, "expected {} rows of {}", nodes,
               columns);
    return Matrix<float>{LoadTensors{file}.array<float>(kTensor, t), columns};
  } catch (const std::exception& e) {
    log_warning("{}: rebuilding the corrupt cache: {}", path.string(), e.what());
    return std::nullopt;
  }
}

}  // namespace

// All that training_graph() reads.
std::string encoding_key(const Dataset& d, const EdgeRules& rules) {
  const std::map<std::string, TensorView> tensors = {
      {"first_node", {DType::kI64, {d.first_node.size()}, std::as_bytes(d.first_node.span())}},
      {"edges", {DType::kI32, {d.edges.values.size()}, std::as_bytes(d.edges.values.span())}},
      {"first_edge", {DType::kI64, {d.first_edge.size()}, std::as_bytes(d.first_edge.span())}},
      {"edge_weights",
       {DType::kF32, {d.edge_weights.size()}, std::as_bytes(d.edge_weights.span())}},
      {"attributed",
       {DType::kU8, {d.node_is_attributed.size()}, std::as_bytes(d.node_is_attributed.span())}}};
  return checksum(
      tensors, fmt::format("undirected {} inverse {} next_token {} drop_loops {}", rules.undirected,
                           rules.inverse, rules.next_token, rules.drop_loops));
}

std::optional<Matrix<float>> load_encoding(const Dataset& d, const NodeEncoding& encoding,
                                           const std::string& key) {
  for (const fs::path& path : encoding_paths(d, encoding))
    if (auto values = load_encoding_file(path, key, d.num_nodes(), encoding.columns)) return values;
  return std::nullopt;
}

void store_encoding(const Dataset& d, const NodeEncoding& encoding, const std::string& key,
                    const Matrix<float>& values) {
  const std::map<std::string, TensorView> tensors = {
      {kTensor,
       {DType::kF32, {d.num_nodes(), values.columns}, std::as_bytes(values.values.span())}}};
  std::string reason;
  for (const fs::path& path : encoding_paths(d, encoding)) {
    try {
      if (path.parent_path() != fs::path(d.directory)) fs::create_directories(path.parent_path());
      write_safetensors(path, tensors,
                        {{"egc_encoding_cache", kEncodingVersion},
                         {"graphs", key},
                         {"checksum", checksum(tensors, key)}},
                        Sync::kNo);
      return;
    } catch (const std::exception& e) {
      reason = e.what();
    }
  }
  log_info("cannot cache {} of {}: {}", spell(encoding), d.directory, reason);
}

}  // namespace egc::data
