// egc data partition: one large graph in parts, for as many processes.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/common.h"
#include "egc/app/find_dataset.h"
#include "egc/core/error.h"
#include "egc/data/partition/dataset_part.h"
#include "egc/data/raw/write_dataset.h"

namespace egc::cli {
namespace {

struct PartitionOptions {
  std::string dataset;
  std::string out;
  std::string method = "metis";
  int64_t parts = 2;
};

void print(const std::vector<data::PartFacts>& parts, const std::string& out, bool json) {
  int64_t edges = 0;
  int64_t cut = 0;
  if (!json)
    fmt::print("{:>4} {:>11} {:>12} {:>12} {:>14} {:>11}\n", "part", "nodes", "edges", "edges cut",
               "rows received", "rows sent");
  for (size_t k = 0; k < parts.size(); ++k) {
    const data::PartFacts& p = parts[k];
    edges += p.edges;
    cut += p.edges_cut;
    if (json)
      fmt::print("{}\n", nlohmann::ordered_json{{"part", k},
                                                {"nodes", p.nodes},
                                                {"edges", p.edges},
                                                {"edges_cut", p.edges_cut},
                                                {"rows_received", p.rows_received},
                                                {"rows_sent", p.rows_sent},
                                                {"path", out}}
                             .dump());
    else
      fmt::print("{:>4} {:>11} {:>12} {:>12} {:>14} {:>11}\n", k, p.nodes, p.edges, p.edges_cut,
                 p.rows_received, p.rows_sent);
  }
  if (!json) fmt::print("{}: {} of {} edges join different partitions\n", out, cut, edges);
}

}  // namespace

void add_data_partition(CLI::App& data, const CommonOptions& common) {
  auto o = std::make_shared<PartitionOptions>();
  CLI::App* command = data.add_subcommand(
      "partition",
      "Partition one large graph for distributed training: each rank loads one partition");
  command->add_option("dataset", o->dataset, "Known or generated dataset, or a dataset directory")
      ->required();
  command->add_option("--parts", o->parts, "Number of partitions, one per rank")
      ->check(CLI::Range(2, 4096))
      ->required();
  command
      ->add_option("--method", o->method,
                   "metis: few edges between partitions; ranges: ranges of node ids")
      ->capture_default_str();
  command->add_option("--out", o->out, "Directory to create")->required();
  command->footer(
      "Example:\n  egc data partition arxiv --parts 4 --out data/arxiv-4\n"
      "  egc launch -n 4 -- train data/arxiv-4 --config configs/arxiv/egc-s.json");
  command->callback([o, &common] {
    const PartitionMethod method = partition_methods().at(o->method);
    data::check_new_directory(o->out);  // before the work
    print(data::write_parts(o->out, app::load_dataset(o->dataset, common), o->parts, method),
          o->out, common.json);
  });
}

}  // namespace egc::cli
