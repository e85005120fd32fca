// egc data fetch: a dataset of the paper from its publisher.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/common.h"
#include "cli/data/build_module.h"
#include "cli/status_line.h"
#include "egc/core/error.h"
#include "egc/core/nearest_name.h"

namespace egc::cli {
namespace {

void show(const std::string& what, int64_t done, int64_t total) {
  const double mb = static_cast<double>(done) / 1e6;
  if (total > 0)
    status_line::show(
        {fmt::format("{:.1f} of {:.1f} MB ({:.0f} %)", mb, static_cast<double>(total) / 1e6,
                     100.0 * static_cast<double>(done) / static_cast<double>(total)),
         what});
  else
    status_line::show({done > 0 ? fmt::format("{:.1f} MB", mb) : "", what});
}

}  // namespace

void add_data_fetch(CLI::App& data, const CommonOptions& common) {
  struct Options {
    std::string name;
    std::string mirror;
    bool unchecked = false;
  };
  auto options = std::make_shared<Options>();
  std::vector<std::string> names;
  for (const auto& known : data::known_datasets()) names.emplace_back(known.name);
  CLI::App* command = data.add_subcommand("fetch", "Download a dataset into --data-dir");
  command
      ->add_option("name", options->name, fmt::format("Dataset: one of {}", fmt::join(names, ", ")))
      ->required();
  command->add_option("--mirror", options->mirror,
                      "URL of a mirror that has the publishers' files under their original names");
  command->add_flag("--no-published-check", options->unchecked,
                    "Accept a dataset whose counts differ from the published ones");
  command->footer("Example:\n  egc data fetch molhiv");
  command->callback([options, names, &common] {
    const data::KnownDataset* known = data::find_known(options->name);
    check(known != nullptr, "unknown dataset \"{}\"{}", options->name,
          spell_known(options->name, {names.begin(), names.end()}));
    fetch::FetchOptions fetch{common.data_dir, options->mirror, !options->unchecked, {}};
    if (!common.quiet) fetch.progress = show;
    const status_line::Cleared cleared;
    const auto dir = build_module().fetch_dataset(*known, fetch);
    status_line::clear();
    if (common.json)
      fmt::print("{}\n",
                 nlohmann::ordered_json{{"name", known->name}, {"path", dir.string()}}.dump());
    else
      fmt::print("{} is in {}\n", known->name, dir.string());
  });
}

}  // namespace egc::cli
