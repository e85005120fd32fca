// Parts as files, and what is believed of them.
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "egc/core/json_parse.h"
#include "egc/data/dataset_tensors.h"
#include "egc/data/partition/dataset_part.h"
#include "egc/data/raw/cache.h"
#include "egc/data/raw/write_dataset.h"
#include "egc/data/splits.h"

namespace egc::data {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kVersion = "4";

// The arrays of one relation of a part.
struct RelationArrays {
  Array<int64_t> offsets;
  Array<int32_t> sources;
  Array<float> weights;
  Array<int32_t> edge_type;
  Matrix<int32_t> edge_types;
  Matrix<float> edge_values;
  Array<int64_t> sent, num_sent, num_received;
  Array<double> degree, degree_with_loops;
};

// And all of a part beside its dataset.
struct ShareArrays {
  std::vector<Array<int64_t>> nodes;
  std::vector<RelationArrays> relations;
};

template <class Arrays, class F>
void visit_share(Arrays& arrays, F&& f) {
  for (size_t t = 0; t < arrays.nodes.size(); ++t)
    f(fmt::format("part.nodes.{}", t), arrays.nodes[t]);
  for (size_t r = 0; r < arrays.relations.size(); ++r) {
    auto& a = arrays.relations[r];
    const std::string name = fmt::format("part.relations.{}.", r);
    f(name + "offsets", a.offsets);
    f(name + "sources", a.sources);
    f(name + "weights", a.weights);
    f(name + "edge_type", a.edge_type);
    f(name + "edge_types", a.edge_types);
    f(name + "edge_values", a.edge_values);
    f(name + "sent", a.sent);
    f(name + "num_sent", a.num_sent);
    f(name + "num_received", a.num_received);
    f(name + "degree", a.degree);
    f(name + "degree_with_loops", a.degree_with_loops);
  }
}

template <class T>
std::vector<T> copied(std::span<const T> values) {
  return {values.begin(), values.end()};
}

ShareArrays arrays_of(const GraphPart& share) {
  ShareArrays out;
  for (const auto& nodes : share.nodes) out.nodes.emplace_back(nodes);
  for (const Csr& graph : share.graph.relations) {
    const Halo& h = *graph.halo();
    const EdgeFeatures& f = graph.edge_features();
    Matrix<int32_t> types;
    if (f.has_types()) types = {f.types->categories, f.types->columns};
    out.relations.push_back({copied(graph.offsets()), copied(graph.sources()),
                             copied(graph.weights()), f.type, std::move(types),
                             Matrix<float>{f.values, f.columns}, h.sent, h.num_sent, h.num_received,
                             h.degree[0], h.degree[1]});
  }
  return out;
}

EdgeFeatures features_of(const RelationArrays& a) {
  EdgeFeatures out;
  out.type = copied(a.edge_type.span());
  if (a.edge_types.columns > 0)
    out.types = std::make_shared<const EdgeTypes>(
        EdgeTypes{a.edge_types.columns, copied(a.edge_types.values.span())});
  out.columns = a.edge_values.columns;
  out.values = copied(a.edge_values.values.span());
  return out;
}

GraphPart share_of(const HeteroSchema& schema, const ShareArrays& arrays,
                   const std::vector<int64_t>& interior) {
  check_data(interior.size() == arrays.relations.size(), "its counts are inconsistent");
  GraphPart out;
  for (const auto& nodes : arrays.nodes) {
    out.graph.num_nodes.push_back(nodes.size());
    out.nodes.push_back(copied(nodes.span()));
  }
  for (size_t r = 0; r < arrays.relations.size(); ++r) {
    const RelationArrays& a = arrays.relations[r];
    auto halo = std::make_shared<Halo>();
    halo->owned = arrays.nodes[schema.relations[r].source].size();
    halo->interior = interior[r];
    halo->rows_are_sources = schema.relations[r].source == schema.relations[r].target;
    halo->sent = copied(a.sent.span());
    halo->num_sent = copied(a.num_sent.span());
    halo->num_received = copied(a.num_received.span());
    halo->degree[0] = copied(a.degree.span());
    halo->degree[1] = copied(a.degree_with_loops.span());
    out.graph.relations.emplace_back(a.offsets.size() - 1, a.degree.size(),
                                     copied(a.offsets.span()), copied(a.sources.span()),
                                     copied(a.weights.span()), std::move(halo), features_of(a));
  }
  check_hetero_graph(schema, out.graph);
  return out;
}

fs::path part_file(const fs::path& dir, int64_t part) {
  return dir / fmt::format("part-{}.safetensors", part);
}

int64_t sum(std::span<const int64_t> values) {
  int64_t out = 0;
  for (const int64_t v : values) {
    check_data(v >= 0 && v <= std::numeric_limits<int32_t>::max(), "a number of rows is {}", v);
    out += v;
  }
  return out;
}

void check_ids(std::span<const int64_t> ids, int64_t end) {
  for (const int64_t id : ids) check_data(id >= 0 && id < end, "a node has the number {}", id);
}

// What the checks of a graph do not know.
void check_relation(const Csr& graph, int64_t part, int64_t parts) {
  const Halo& h = *graph.halo();
  const auto count = static_cast<size_t>(parts);
  const int64_t looped = h.rows_are_sources ? graph.num_sources() : 0;
  check_data(
      part >= 0 && part < parts && h.interior >= 0 && h.interior <= graph.num_targets() &&
          h.num_sent.size() == count && h.num_received.size() == count && h.num_sent[part] == 0 &&
          h.num_received[part] == 0 && sum(h.num_sent) == std::ssize(h.sent) &&
          sum(h.num_received) == graph.num_sources() - h.owned &&
          std::ssize(h.degree[0]) == graph.num_sources() && std::ssize(h.degree[1]) == looped,
      "its counts are inconsistent");
  check_ids(h.sent, h.owned);
  for (int64_t i = 0; i < h.interior; ++i)
    for (int64_t e = graph.offsets()[i]; e < graph.offsets()[i + 1]; ++e)
      check_data(graph.sources()[e] < h.owned, "row {} is outside the partition", i);
  for (const auto& degrees : h.degree)
    for (const double degree : degrees) check_data(std::isfinite(degree), "a degree is {}", degree);
}

void check_homogeneous(const Dataset& d, const GraphPart& share) {
  const int64_t nodes = share.graph.num_nodes[0];
  check_ids(share.nodes[0], std::numeric_limits<int32_t>::max());
  check_data(d.num_graphs() == 1 && d.num_nodes() == nodes &&
                 (d.node_features.empty() || d.node_features.rows() == nodes),
             "its graph has {} nodes, but its arrays do not match", nodes);
  check_data(d.edge_weights.empty(), "it has weights of edges beside those of its graph");
  const Matrix<int32_t>& categories = d.node_features.categories;
  check_data(categories.columns == std::ssize(d.info.categories) &&
                 (categories.columns == 0 || d.node_features.floats.empty()) &&
                 categories.rows() == (categories.columns > 0 ? nodes : 0),
             "its categorical features do not match its description");
  for (int64_t k = 0; k < categories.values.size(); ++k) {
    const int32_t value = categories.values[k];
    const int64_t column = k % categories.columns;
    check_data(value >= 0 && value < d.info.categories[column], "category {} of column {}", value,
               column);
  }
}

void check_hetero(const HeteroParts& h, const GraphPart& share) {
  check_data(h.num_nodes == share.graph.num_nodes, "its graph does not match its arrays");
  for (size_t t = 0; t < h.num_nodes.size(); ++t) {
    check_ids(share.nodes[t], h.nodes_of_graph[t]);
    check_data(
        h.features[t].categories.empty() &&
            h.features[t].floats.rows() == (h.features[t].columns() > 0 ? h.num_nodes[t] : 0),
        "{} has {} nodes, but its features do not match", h.schema.node_types[t], h.num_nodes[t]);
  }
}

// What is believed of the structure before any array is read.
void check_structure(const Dataset& d) {
  check_data(can_be_cut(d), "not a partition of a single graph with node classes");
  if (d.hetero.empty()) return;
  check_schema(d.hetero.schema);
  const HeteroParts& h = d.hetero;
  check_data(h.num_nodes.size() == h.schema.node_types.size() &&
                 h.nodes_of_graph.size() == h.num_nodes.size() && h.target_type >= 0 &&
                 h.target_type < std::ssize(h.num_nodes),
             "its counts are inconsistent");
  for (size_t t = 0; t < h.num_nodes.size(); ++t)
    check_data(h.nodes_of_graph[t] >= h.num_nodes[t] &&
                   h.nodes_of_graph[t] <= std::numeric_limits<int32_t>::max(),
               "it has {} of {} nodes of a type", h.num_nodes[t], h.nodes_of_graph[t]);
}

void check_part(const DatasetPart& p) {
  const Dataset& d = p.dataset;
  for (const Csr& relation : p.share.graph.relations) check_relation(relation, p.part, p.parts);
  if (d.hetero.empty())
    check_homogeneous(d, p.share);
  else
    check_hetero(d.hetero, p.share);
  check_data(d.labels.classes.size() == d.num_items(), "{} nodes have {} labels", d.num_items(),
             d.labels.classes.size());
  for (const int32_t c : d.labels.classes)
    check_data(c >= -1 && c < d.info.num_classes, "a class is {} of {}", c, d.info.num_classes);
  for (const Split& split : d.splits)
    for (const auto* ids : {&split.train, &split.valid, &split.test})
      check_ids(ids->span(), d.num_items());
}

}  // namespace

std::vector<PartFacts> write_parts(const fs::path& dir, const Dataset& whole, int64_t parts,
                                   PartitionMethod method) {
  const WholeGraph graph(whole);
  const std::vector<int32_t> part_of = partition(graph.schema, graph.graph, parts, method);
  Dataset known = whole;  // which shares everything, with a checksum that is taken once
  known.checksum_of_dataset = dataset_checksum(whole);
  std::vector<Split> splits;
  for (const Split& split : whole.splits) splits.push_back(with_valid(whole, split.name));
  std::vector<PartFacts> facts;
  create_directory_whole(dir, [&](const fs::path& to) {
    for (int64_t k = 0; k < parts; ++k) {
      const DatasetPart part = cut_dataset(known, graph, splits, part_of, parts, k);
      facts.push_back(facts_of(part.share.graph));
      const ShareArrays arrays = arrays_of(part.share);
      StoreTensors store;
      visit_arrays(part.dataset, store);
      visit_share(arrays, store);
      const std::string structure = structure_of(part.dataset);
      std::vector<int64_t> interior;
      for (const Csr& relation : part.share.graph.relations)
        interior.push_back(relation.halo()->interior);
      const json place = {{"part", k}, {"parts", parts}, {"cut", part.cut}, {"interior", interior}};
      write_safetensors(
          part_file(to, k), store.tensors,
          {{"egc_dataset_part", kVersion},
           {"place", place.dump()},
           {"whole", part.dataset.checksum_of_dataset},
           {"structure", structure},
           {"checksum",
            checksum(store.tensors, structure + place.dump() + part.dataset.checksum_of_dataset)}});
    }
  });
  return facts;
}

bool is_parts_directory(const fs::path& dir) {
  std::error_code ignored;
  return fs::exists(part_file(dir, 0), ignored);
}

DatasetPart read_part(const fs::path& dir, int64_t part, int64_t parts) {
  check(parts != 1,
        "{} is a partitioned dataset: train on it with one rank per partition (egc launch -n)",
        dir.string());
  const fs::path path = part_file(dir, part);
  std::error_code ignored;
  check_data(fs::exists(path, ignored),
             "{}: no partition {} of {}; run \"egc data partition\" with --parts equal to the "
             "number of ranks",
             path.string(), part, parts);
  try {
    auto file = std::make_shared<const SafetensorsFile>(path);
    const auto value = [&](const char* key) {
      const auto it = file->metadata().find(key);
      return it == file->metadata().end() ? std::string() : it->second;
    };
    const std::string version = value("egc_dataset_part");
    check_data(!version.empty(), "not a partition of a dataset");
    check_data(version == kVersion,
               "it was written by another version of egc; run \"egc data partition\" again");
    check_data(value("checksum") ==
                   checksum(file->tensors(), value("structure") + value("place") + value("whole")),
               "the checksum does not match");
    const json place = parse_json<json>(value("place"), path.string(), ErrorKind::kData);
    DatasetPart out;
    out.part = place.at("part").get<int64_t>();
    out.parts = place.at("parts").get<int64_t>();
    out.cut = place.at("cut").get<std::string>();
    check_data(out.part == part && (parts == 0 || out.parts == parts),
               "it is partition {} of {}, expected {} of {}; train with as many ranks as there are "
               "partitions",
               out.part, out.parts, part, parts);
    out.dataset = with_structure(value("structure"), path.string());
    out.dataset.checksum_of_dataset = value("whole");
    check_structure(out.dataset);
    const HeteroSchema schema = schema_of(out.dataset);
    ShareArrays arrays{std::vector<Array<int64_t>>(schema.node_types.size()),
                       std::vector<RelationArrays>(schema.relations.size())};
    visit_arrays(out.dataset, LoadTensors{file});
    visit_share(arrays, LoadTensors{file});
    out.share = share_of(schema, arrays, place.at("interior").get<std::vector<int64_t>>());
    check_part(out);
    return out;
  } catch (const json::exception&) {
    fail(ErrorKind::kData, "{}: not written by egc: its description is invalid", path.string());
  } catch (const std::exception& e) {
    const std::string why = e.what();
    fail(ErrorKind::kData, "{}", why.starts_with(path.string()) ? why : path.string() + ": " + why);
  }
}

}  // namespace egc::data
