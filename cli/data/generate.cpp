// egc data generate: datasets made of nothing but a seed.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/common.h"
#include "egc/data/generate/generators.h"
#include "egc/data/raw/write_dataset.h"

namespace egc::cli {

void add_data_generate(CLI::App& data, const CommonOptions& common) {
  struct Options {
    std::string name;
    std::string out;
    double size = 1;
  };
  auto options = std::make_shared<Options>();
  std::vector<std::string> names;
  for (const auto& g : data::generators()) names.emplace_back(g.name);
  CLI::App* command = data.add_subcommand("generate", "Generate a synthetic dataset");
  command
      ->add_option("name", options->name,
                   fmt::format("Generator: one of {}", fmt::join(names, ", ")))
      ->required();
  command->add_option("--out", options->out, "Directory to create")->required();
  command->add_option("--size", options->size, "Fraction of the full size, in (0, 1]")
      ->capture_default_str();
  command->footer("Example:\n  egc data generate pattern --size 0.1 --out data/pattern --seed 1");
  command->callback([options, &common] {
    data::check_new_directory(options->out);  // before the work
    const data::Dataset d =
        data::generate(options->name, {.seed = common.seed, .size = options->size});
    write_dataset(d, options->out);
    if (common.json)
      fmt::print("{}\n", nlohmann::ordered_json{{"name", d.info.name},
                                                {"graphs", d.num_graphs()},
                                                {"nodes", d.num_nodes()},
                                                {"edges", d.num_edges()},
                                                {"path", options->out}}
                             .dump());
    else
      fmt::print("{}: {} graphs, {} nodes, {} edges\n", options->out, d.num_graphs(), d.num_nodes(),
                 d.num_edges());
  });
}

}  // namespace egc::cli
