#include "egc/data/dataset_tensors.h"
#include "egc/core/hash64.h"

#include <nlohmann/json.hpp>

#include "egc/core/json_parse.h"
#include "egc/core/parallel.h"

namespace egc::data {

using nlohmann::json;

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
                 [&](int64_t k) { hashes[k] = hash64(pieces[k].data(), pieces[k].size()); });
  const uint64_t all = hash64(hashes.data(), hashes.size() * sizeof(uint64_t));
  return fmt::format("{:016x}{:016x}", hash64(summary.data(), summary.size()), all);
}

std::string structure_of(const Dataset& d, NoUtf8 bytes) {
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
    if (!d.hetero.nodes_of_graph.empty()) out["hetero"]["of_whole"] = d.hetero.nodes_of_graph;
  }
  return out.dump(
      -1, ' ', false,
      bytes == NoUtf8::kReplace ? json::error_handler_t::replace : json::error_handler_t::strict);
}

Dataset with_structure(const std::string& text, const std::string& where) {
  const json structure = parse_json<json>(text, where, ErrorKind::kData);
  Dataset d;
  d.info = parse_info(structure.at("info").get<std::string>(), where).info;
  for (const json& name : structure.at("splits"))
    d.splits.push_back({name.get<std::string>(), {}, {}, {}});
  if (structure.contains("hetero")) {
    const json& h = structure["hetero"];
    d.hetero.schema.node_types = h.at("types").get<std::vector<std::string>>();
    d.hetero.num_nodes = h.at("nodes").get<std::vector<int64_t>>();
    d.hetero.target_type = h.at("target").get<int64_t>();
    if (h.contains("of_whole")) d.hetero.nodes_of_graph = h["of_whole"].get<std::vector<int64_t>>();
    for (const json& r : h.at("relations"))
      d.hetero.schema.relations.push_back({r.at("name").get<std::string>(),
                                           r.at("source").get<int64_t>(),
                                           r.at("target").get<int64_t>()});
    d.hetero.features.resize(d.hetero.num_nodes.size());
    d.hetero.edges.resize(d.hetero.schema.relations.size());
  }
  return d;
}

}  // namespace egc::data
