// The layers by name, and which options of a configuration each takes. An option that a layer does
// not take is refused, not ignored.
#pragma once

#include <string_view>
#include <vector>

namespace egc {

struct LayerTraits {
  std::string_view name;
  std::vector<std::string_view> options;  // as configurations call them

  bool takes(std::string_view option) const;
};

// In the order of the paper's tables; what they do not have comes last.
const std::vector<LayerTraits>& layer_table();

// Throws kUsage with the known names.
const LayerTraits& layer_traits(std::string_view layer);

// Throws kUsage with the options that the layer takes unless `option` is one of them. `spelling`:
// how the person wrote it, for instance --self-loops.
void check_takes(std::string_view layer, std::string_view option, std::string_view spelling);

}  // namespace egc
