#include "egc/core/layer_options.h"

#include <algorithm>

#include "egc/core/error.h"

namespace egc {

bool LayerTraits::takes(std::string_view option) const {
  return std::find(options.begin(), options.end(), option) != options.end();
}

const std::vector<LayerTraits>& layer_table() {
  static const std::vector<std::string_view> egc = {"heads", "bases", "aggregators", "self_loops",
                                                    "activation"};
  static const std::vector<LayerTraits> table = {{"gcn", {}},
                                                 {"gin", {}},
                                                 {"sage", {"aggregators"}},
                                                 {"gat", {"heads"}},
                                                 {"gatv2", {"heads"}},
                                                 {"mpnn-sum", {"towers"}},
                                                 {"mpnn-max", {"towers"}},
                                                 {"pna", {"towers", "mean_log_degree"}},
                                                 {"egc-s", egc},
                                                 {"egc-m", egc},
                                                 {"egc", egc},
                                                 {"rgcn", {}},
                                                 {"regc", {"heads", "bases", "aggregators"}},
                                                 {"mlp", {}},
                                                 {"ga-mlp", {"aggregators"}}};
  return table;
}

const LayerTraits& layer_traits(std::string_view layer) {
  const auto& table = layer_table();
  const auto it = std::find_if(table.begin(), table.end(),
                               [&](const LayerTraits& t) { return t.name == layer; });
  if (it != table.end()) return *it;
  std::vector<std::string_view> known;
  for (const LayerTraits& t : table) known.push_back(t.name);
  fail(ErrorKind::kUsage, "unknown model \"{}\"; known: {}", layer, fmt::join(known, ", "));
}

void check_takes(std::string_view layer, std::string_view option, std::string_view spelling) {
  const LayerTraits& traits = layer_traits(layer);
  if (traits.takes(option)) return;
  if (traits.options.empty())
    fail(ErrorKind::kUsage, "{} does not take {}: it has no options of its own", layer, spelling);
  fail(ErrorKind::kUsage, "{} does not take {}; it takes {}", layer, spelling,
       fmt::join(traits.options, ", "));
}

}  // namespace egc
