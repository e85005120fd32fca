// egc data list, info, verify: what is there, what it is, whether it is right.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/common.h"
#include "egc/app/find_dataset.h"
#include "egc/core/error.h"
#include "egc/data/dataset_table.h"
#include "egc/data/generate/generators.h"
#include "egc/data/raw/verify.h"
#include "egc/data/summary.h"

namespace egc::cli {
namespace {

using Json = nlohmann::ordered_json;

struct InfoOptions {
  std::string dataset;
  std::string split;
};

constexpr const char* kParts[] = {"train", "valid", "test"};

std::string path_of(const data::KnownDataset& known, const CommonOptions& common) {
  try {
    return app::dataset_directory(known.name, common)->string();
  } catch (const Error&) {
    return {};
  }
}

void list(const CommonOptions& common) {
  if (!common.json) fmt::print("{:<12} {:<64} {}\n", "name", "what", "where");
  for (const auto& known : data::known_datasets()) {
    const std::string found = path_of(known, common);
    if (common.json)
      fmt::print(
          "{}\n",
          Json{
              {"name", known.name}, {"what", known.what}, {"here", !found.empty()}, {"path", found}}
              .dump());
    else
      fmt::print("{:<12} {:<64} {}\n", known.name, known.what,
                 found.empty() ? fmt::format("egc data fetch {}", known.name) : found);
  }
  for (const auto& generator : data::generators())
    if (common.json)
      fmt::print(
          "{}\n",
          Json{
              {"name", generator.name}, {"what", generator.what}, {"here", true}, {"path", nullptr}}
              .dump());
    else
      fmt::print("{:<12} {:<64} {}\n", generator.name, generator.what, "generated on demand");
}

Json label_json(const data::LabelSummary& labels) {
  Json out = {{"items", labels.items}, {"labelled", labels.labelled}};
  if (!labels.classes.empty())
    out["classes"] = labels.classes;
  else if (labels.mean_words > 0)
    out["mean_words"] = labels.mean_words;
  else
    out.update(
        {{"mean", labels.mean}, {"std", labels.std}, {"min", labels.min}, {"max", labels.max}});
  return out;
}

Json edge_weight_json(const data::Dataset& d, const data::Summary& s) {
  if (d.edge_weights.empty()) return nullptr;
  return {{"column", d.info.edge_weight}, {"min", s.min_edge_weight}, {"max", s.max_edge_weight}};
}

Json info_json(const data::Dataset& d, const data::Summary& s) {
  Json out = {{"name", d.info.name},
              {"task", tasks().name_of(d.info.task)},
              {"metric", data::metrics().name_of(d.info.metric)},
              {"graphs", s.graphs},
              {"nodes", s.nodes},
              {"edges", s.edges},
              {"training_edges", s.training_edges},
              {"features", s.features},
              {"feature_kind", data::feature_kinds().name_of(d.info.node_features)},
              {"categories", d.info.categories},
              {"edge_features", s.edge_features},
              {"edge_feature_kind", data::feature_kinds().name_of(d.info.edge_features)},
              {"edge_categories", d.info.edge_categories},
              {"edge_weight", edge_weight_json(d, s)},
              {"classes", d.info.num_classes},
              {"splits", Json::object()},
              {"split_names", Json::array()},
              {"mean_nodes", s.graph_nodes.mean},
              {"mean_edges", s.graph_edges.mean},
              {"min_nodes", s.graph_nodes.min},
              {"max_nodes", s.graph_nodes.max},
              {"labels", label_json(s.labels)},
              {"bytes", s.bytes}};
  for (const auto& split : d.splits) out["split_names"].push_back(split.name);
  for (int p = 0; p < 3; ++p) {
    out["splits"][kParts[p]] = s.parts[p].items;
    out["part_labels"][kParts[p]] = label_json(s.parts[p]);
  }
  if (!d.hetero.empty()) {
    out["node_types"] = Json::object();
    for (size_t t = 0; t < d.hetero.num_nodes.size(); ++t)
      out["node_types"][d.hetero.schema.node_types[t]] = d.hetero.num_nodes[t];
    out["relations"] = Json::object();
    for (size_t r = 0; r < d.hetero.edges.size(); ++r)
      out["relations"][d.hetero.schema.relations[r].name] = d.hetero.edges[r].rows();
  }
  return out;
}

std::string features_text(int64_t columns, data::FeatureKind kind,
                          const std::vector<int64_t>& categories) {
  return fmt::format(
      "{} {}{}", columns, data::feature_kinds().name_of(kind),
      categories.empty() ? "" : fmt::format(" of {} values", fmt::join(categories, ", ")));
}

std::string label_text(const data::LabelSummary& labels) {
  if (!labels.classes.empty()) {
    constexpr size_t kShown = 12;
    const auto end =
        labels.classes.begin() + static_cast<ptrdiff_t>(std::min(kShown, labels.classes.size()));
    return fmt::format("{} labelled; per class {}{}", labels.labelled,
                       fmt::join(labels.classes.begin(), end, " "),
                       labels.classes.size() > kShown ? " ..." : "");
  }
  if (labels.mean_words > 0)
    return fmt::format("{} labelled; {:.2f} words on average", labels.labelled, labels.mean_words);
  return fmt::format("{} labelled; mean {:.4f}, standard deviation {:.4f}, range {:.4g} to {:.4g}",
                     labels.labelled, labels.mean, labels.std, labels.min, labels.max);
}

void print_info(const data::Dataset& d, const data::Summary& s) {
  const auto line = [](const char* what, const std::string& value) {
    fmt::print("{:<10} {}\n", what, value);
  };
  line("name", d.info.name);
  line("task", fmt::format("{}, metric {}", tasks().name_of(d.info.task),
                           data::metrics().name_of(d.info.metric)));
  line("graphs", fmt::format("{}", s.graphs));
  line("nodes", s.graphs == 1
                    ? fmt::format("{}", s.nodes)
                    : fmt::format("{} ({:.2f} per graph, {} to {})", s.nodes, s.graph_nodes.mean,
                                  s.graph_nodes.min, s.graph_nodes.max));
  line("edges", s.graphs == 1
                    ? fmt::format("{} ({} as seen by networks)", s.edges, s.training_edges)
                    : fmt::format("{} ({:.2f} per graph; {} as seen by networks)", s.edges,
                                  s.graph_edges.mean, s.training_edges));
  for (size_t t = 0; t < d.hetero.num_nodes.size(); ++t)
    line(t == 0 ? "types" : "",
         fmt::format("{} {}", d.hetero.num_nodes[t], d.hetero.schema.node_types[t]));
  constexpr size_t kShown = 12;
  for (size_t r = 0; r < std::min(kShown, d.hetero.edges.size()); ++r) {
    const auto& relation = d.hetero.schema.relations[r];
    line(r == 0 ? "relations" : "",
         fmt::format("{} {} -> {} -> {}", d.hetero.edges[r].rows(),
                     d.hetero.schema.node_types[relation.source], relation.name,
                     d.hetero.schema.node_types[relation.target]));
  }
  if (d.hetero.edges.size() > kShown)
    line("", fmt::format("and {} more", d.hetero.edges.size() - kShown));
  line("features", d.info.node_features == data::FeatureKind::kNone
                       ? (d.hetero.empty() ? "none: networks get a constant feature"
                                           : "none: networks learn an embedding for every node")
                       : features_text(s.features, d.info.node_features, d.info.categories));
  if (!d.edge_features.empty())
    line("of edges", features_text(s.edge_features, d.info.edge_features, d.info.edge_categories));
  if (!d.edge_weights.empty())
    line("weights",
         fmt::format("of edges, {:.4g} to {:.4g}", s.min_edge_weight, s.max_edge_weight));
  if (d.info.num_classes > 0) line("classes", fmt::format("{}", d.info.num_classes));
  line("labels", label_text(s.labels));
  if (d.splits.empty()) line("split", "none");
  for (int p = 0; p < 3 && !d.splits.empty(); ++p)
    line(kParts[p], fmt::format("{}: {}", s.parts[p].items, label_text(s.parts[p])));
  if (d.splits.size() > 1) {
    std::vector<std::string> names;
    for (const auto& split : d.splits) names.push_back(split.name);
    line("splits", fmt::format("{}", fmt::join(names, ", ")));
  }
  line("memory", fmt::format("{:.1f} MB", static_cast<double>(s.bytes) / 1e6));
}

void verify(const InfoOptions& o, const CommonOptions& common) {
  const data::Dataset d = app::load_dataset(o.dataset, common, /*cache=*/false);
  check_dataset(d, d.info.name);
  const data::KnownDataset* known = data::find_known(d.info.name);
  const auto differences = known == nullptr ? std::vector<std::string>{}
                                            : differences_from_published(d, known->published);
  if (common.json)
    fmt::print("{}\n", Json{{"name", d.info.name},
                            {"fine", differences.empty()},
                            {"known", known != nullptr},
                            {"differences", differences}}
                           .dump());
  else if (differences.empty())
    fmt::print("{}: ids, features, labels and splits are valid{}\n", d.info.name,
               known == nullptr ? "" : "; counts match the published ones");
  if (!differences.empty())
    fail(ErrorKind::kVerification, "{}: differs from the published dataset: {}", d.info.name,
         fmt::join(differences, "; "));
}

}  // namespace

void add_data_info(CLI::App& data, const CommonOptions& common) {
  CLI::App* list_command = data.add_subcommand(
      "list", "List the known datasets and which of them are available locally");
  list_command->footer("Example:\n  egc data list");
  list_command->callback([&common] { list(common); });

  auto options = std::make_shared<InfoOptions>();
  CLI::App* info = data.add_subcommand("info", "Show counts and statistics of a dataset");
  info->add_option("dataset", options->dataset,
                   "Known or generated dataset, or a dataset directory")
      ->required();
  info->add_option("--split", options->split, "Split to show, if there are several");
  info->footer("Example:\n  egc data info pattern");
  info->callback([options, &common] {
    const data::Dataset d = app::load_dataset(options->dataset, common);
    const data::Summary s = summarize(d, options->split);
    if (common.json)
      fmt::print("{}\n", info_json(d, s).dump());
    else
      print_info(d, s);
  });

  CLI::App* check_command = data.add_subcommand(
      "verify", "Check a whole dataset: ids, splits, features, published counts");
  check_command
      ->add_option("dataset", options->dataset,
                   "Known or generated dataset, or a dataset directory")
      ->required();
  check_command->footer("Example:\n  egc data verify data/mine");
  check_command->callback([options, &common] { verify(*options, common); });
}

}  // namespace egc::cli
