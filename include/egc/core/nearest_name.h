// Suggestions for misspelt names in error messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace egc {

// The known name with the fewest edits: letters inserted, removed or replaced, or two neighbours
// swapped; case is ignored. The first one wins ties. Empty if even the nearest needs more than
// about one edit per three letters.
std::string_view nearest_name(std::string_view name, const std::vector<std::string_view>& known);

// `; did you mean "egc-s"?`, or nothing: to be appended to an error about the name.
std::string did_you_mean(std::string_view name, const std::vector<std::string_view>& known);

// The end of an error about an unknown name: `; did you mean "egc-s"? known: gcn, gin, ...`
std::string spell_known(std::string_view name, const std::vector<std::string_view>& known);

}  // namespace egc
