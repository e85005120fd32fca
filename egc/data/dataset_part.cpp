#include "egc/data/dataset_part.h"

#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "egc/core/json_parse.h"
#include "egc/data/cache.h"
#include "egc/data/dataset_tensors.h"
#include "egc/data/splits.h"
#include "egc/data/training_edges.h"
#include "egc/data/write_dataset.h"

namespace egc::data {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kVersion = "1";

template <class T>
Matrix<T> rows_of(const Matrix<T>& m, std::span<const int64_t> rows) {
  std::vector<T> out;
  out.reserve(rows.size() * static_cast<size_t>(m.columns));
  if (!m.empty())
    for (const int64_t i : rows) {
      const auto row = m.row(i);
      out.insert(out.end(), row.begin(), row.end());
    }
  return {std::move(out), m.columns};
}

// The ids that have a number here, as those numbers.
Array<int64_t> renumbered(std::span<const int64_t> ids, std::span<const int64_t> number) {
  std::vector<int64_t> out;
  for (const int64_t id : ids)
    if (number[id] >= 0) out.push_back(number[id]);
  std::sort(out.begin(), out.end());
  return out;
}

// The arrays of a part beside its dataset.
struct PartArrays {
  Array<int64_t> offsets;
  Array<int32_t> sources;
  Array<float> weights;
  Array<int64_t> sent, num_sent, num_received;
  Array<double> degree, degree_with_loops;
};

template <class Arrays, class F>
void visit_part(Arrays& a, F&& f) {
  f("part.offsets", a.offsets);
  f("part.sources", a.sources);
  f("part.weights", a.weights);
  f("part.sent", a.sent);
  f("part.num_sent", a.num_sent);
  f("part.num_received", a.num_received);
  f("part.degree", a.degree);
  f("part.degree_with_loops", a.degree_with_loops);
}

template <class T>
std::vector<T> copied(std::span<const T> values) {
  return {values.begin(), values.end()};
}

PartArrays arrays_of(const Csr& graph) {
  const Halo& h = *graph.halo();
  return {copied(graph.offsets()),
          copied(graph.sources()),
          copied(graph.weights()),
          h.sent,
          h.num_sent,
          h.num_received,
          h.degree[0],
          h.degree[1]};
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

// What the checks of a graph and of a dataset do not know.
void check_part(const DatasetPart& p) {
  const Halo& h = *p.graph.halo();
  const int64_t nodes = p.graph.num_targets();
  const auto parts = static_cast<size_t>(p.parts);
  check_data(p.part >= 0 && p.part < p.parts && h.owned == nodes && h.interior >= 0 &&
                 h.interior <= nodes && h.num_sent.size() == parts &&
                 h.num_received.size() == parts && h.num_sent[p.part] == 0 &&
                 h.num_received[p.part] == 0 && sum(h.num_sent) == std::ssize(h.sent) &&
                 sum(h.num_received) == p.graph.num_sources() - nodes &&
                 std::ssize(h.degree[0]) == p.graph.num_sources() &&
                 std::ssize(h.degree[1]) == p.graph.num_sources(),
             "its numbers do not agree");
  const auto in_range = [](std::span<const int64_t> ids, int64_t end) {
    for (const int64_t id : ids) check_data(id >= 0 && id < end, "a node has the number {}", id);
  };
  in_range(h.sent, nodes);
  for (int64_t i = 0; i < h.interior; ++i)
    for (int64_t e = p.graph.offsets()[i]; e < p.graph.offsets()[i + 1]; ++e)
      check_data(p.graph.sources()[e] < nodes, "row {} is not within the part", i);
  for (const auto& degrees : h.degree)
    for (const double degree : degrees) check_data(std::isfinite(degree), "a degree is {}", degree);
  const Dataset& d = p.dataset;
  check_data(can_be_cut(d), "it is no part of one graph with one type of nodes");
  check_data(d.num_graphs() == 1 && d.num_nodes() == nodes && d.hetero.empty() &&
                 d.labels.classes.size() == nodes &&
                 (d.node_features.empty() || d.node_features.rows() == nodes),
             "its graph has {} nodes, its arrays others", nodes);
  for (const int32_t c : d.labels.classes)
    check_data(c >= -1 && c < d.info.num_classes, "a class is {} of {}", c, d.info.num_classes);
  const Matrix<int32_t>& categories = d.node_features.categories;
  check_data(categories.columns == std::ssize(d.info.categories) &&
                 (categories.columns == 0 || d.node_features.floats.empty()) &&
                 categories.rows() == (categories.columns > 0 ? nodes : 0),
             "it has other categorical features than it says");
  for (int64_t k = 0; k < categories.values.size(); ++k) {
    const int32_t value = categories.values[k];
    const int64_t column = k % categories.columns;
    check_data(value >= 0 && value < d.info.categories[column], "category {} of column {}", value,
               column);
  }
  for (const Split& split : d.splits)
    for (const auto* ids : {&split.train, &split.valid, &split.test}) in_range(ids->span(), nodes);
}

}  // namespace

bool can_be_cut(const Dataset& d) {
  return d.info.task == Task::kNodeClassification && d.hetero.empty() && d.splits_nodes();
}

DatasetPart cut_dataset(const Dataset& whole, const Csr& graph, std::span<const int32_t> part_of,
                        int64_t parts, int64_t part) {
  check(can_be_cut(whole), "{}: only one graph with one type of nodes is cut into parts",
        whole.info.name);
  GraphPart cut = cut_part(graph, part_of, parts, part);
  DatasetPart out;
  out.part = part;
  out.parts = parts;
  out.cut = fmt::format("{:016x}", XXH3_64bits(part_of.data(), part_of.size_bytes()));
  out.graph = std::move(cut.graph);
  Dataset& d = out.dataset;
  d.info = whole.info;
  d.checksum_of_whole = dataset_checksum(whole);
  d.first_node = std::vector<int64_t>{0, std::ssize(cut.nodes)};
  d.first_edge = std::vector<int64_t>{0, 0};
  d.edges.columns = 2;
  d.node_features.floats = rows_of(whole.node_features.floats, cut.nodes);
  d.node_features.categories = rows_of(whole.node_features.categories, cut.nodes);
  std::vector<int32_t> classes;
  for (const int64_t i : cut.nodes) classes.push_back(whole.labels.classes[i]);
  d.labels.classes = std::move(classes);
  std::vector<int64_t> number(static_cast<size_t>(whole.num_nodes()), -1);
  for (size_t k = 0; k < cut.nodes.size(); ++k) number[cut.nodes[k]] = static_cast<int64_t>(k);
  for (const Split& each : whole.splits) {
    const Split split = with_valid(whole, each.name);
    d.splits.push_back({split.name, renumbered(split.train, number),
                        renumbered(split.valid, number), renumbered(split.test, number)});
  }
  return out;
}

PartFacts facts_of(const Csr& part) {
  const int64_t owned = part.num_targets();
  PartFacts out{owned, part.num_edges(), 0, part.num_sources() - owned,
                std::ssize(part.halo()->sent)};
  for (const int32_t source : part.sources()) out.edges_cut += source >= owned ? 1 : 0;
  return out;
}

std::vector<PartFacts> write_parts(const fs::path& dir, const Dataset& whole, int64_t parts,
                                   PartitionMethod method) {
  check(can_be_cut(whole), "{}: only one graph with one type of nodes is cut into parts",
        whole.info.name);
  const Csr graph = training_graph(whole, 0, EdgeRules::of(whole));
  const std::vector<int32_t> part_of = partition(graph, parts, method);
  Dataset known = whole;  // which shares everything, with a checksum that is taken once
  known.checksum_of_whole = dataset_checksum(whole);
  std::vector<PartFacts> facts;
  create_directory_whole(dir, [&](const fs::path& to) {
    for (int64_t k = 0; k < parts; ++k) {
      const DatasetPart part = cut_dataset(known, graph, part_of, parts, k);
      facts.push_back(facts_of(part.graph));
      const PartArrays arrays = arrays_of(part.graph);
      StoreTensors store;
      visit_arrays(part.dataset, store);
      visit_part(arrays, store);
      const std::string structure = structure_of(part.dataset);
      const json place = {{"part", k},
                          {"parts", parts},
                          {"cut", part.cut},
                          {"interior", part.graph.halo()->interior}};
      write_safetensors(
          part_file(to, k), store.tensors,
          {{"egc_dataset_part", kVersion},
           {"place", place.dump()},
           {"whole", part.dataset.checksum_of_whole},
           {"structure", structure},
           {"checksum",
            checksum(store.tensors, structure + place.dump() + part.dataset.checksum_of_whole)}});
    }
  });
  return facts;
}

bool is_parts_directory(const fs::path& dir) {
  std::error_code ignored;
  return fs::exists(part_file(dir, 0), ignored);
}

DatasetPart read_part(const fs::path& dir, int64_t part, int64_t parts) {
  const fs::path path = part_file(dir, part);
  std::error_code ignored;
  check_data(fs::exists(path, ignored),
             "{}: there is no part {} of {}; \"egc data partition\" with "
             "as many parts as processes makes one",
             path.string(), part, parts);
  try {
    auto file = std::make_shared<const SafetensorsFile>(path);
    const auto value = [&](const char* key) {
      const auto it = file->metadata().find(key);
      return it == file->metadata().end() ? std::string() : it->second;
    };
    check_data(value("egc_dataset_part") == kVersion, "it is no part of a dataset");
    check_data(value("checksum") ==
                   checksum(file->tensors(), value("structure") + value("place") + value("whole")),
               "the checksum does not fit");
    const json place = parse_json<json>(value("place"), path.string(), ErrorKind::kData);
    DatasetPart out;
    out.part = place.at("part").get<int64_t>();
    out.parts = place.at("parts").get<int64_t>();
    out.cut = place.at("cut").get<std::string>();
    check_data(out.part == part && (parts == 0 || out.parts == parts),
               "it is part {} of {}, needed is {} of {}", out.part, out.parts, part, parts);
    out.dataset = with_structure(value("structure"), path.string());
    out.dataset.checksum_of_whole = value("whole");
    PartArrays arrays;
    visit_arrays(out.dataset, LoadTensors{file});
    visit_part(arrays, LoadTensors{file});
    auto halo = std::make_shared<Halo>();
    halo->owned = arrays.offsets.size() - 1;
    halo->interior = place.at("interior").get<int64_t>();
    halo->rows_are_sources = true;
    halo->sent = copied(arrays.sent.span());
    halo->num_sent = copied(arrays.num_sent.span());
    halo->num_received = copied(arrays.num_received.span());
    halo->degree[0] = copied(arrays.degree.span());
    halo->degree[1] = copied(arrays.degree_with_loops.span());
    const int64_t sources = arrays.degree.size();
    const int64_t owned = halo->owned;
    out.graph = Csr(owned, sources, copied(arrays.offsets.span()), copied(arrays.sources.span()),
                    copied(arrays.weights.span()), std::move(halo));
    check_part(out);
    return out;
  } catch (const std::exception& e) {
    fail(ErrorKind::kData, "{}: {}", path.string(), e.what());
  }
}

}  // namespace egc::data
