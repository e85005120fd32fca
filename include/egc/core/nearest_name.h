// Which name a misspelt one was probably meant to be: for the errors of everything that has a name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace egc {

// The known name with the fewest edits (letters inserted, removed, replaced, or two neighbours
// swapped; case does not count), the first of equals; empty where none is near: about one edit in
// three letters.
std::string_view nearest_name(std::string_view name, const std::vector<std::string_view>& known);

// `; did you mean "egc-s"?`, or nothing: to be appended to an error about the name.
std::string did_you_mean(std::string_view name, const std::vector<std::string_view>& known);

// The end of an error about an unknown name: `; did you mean "egc-s"? known: gcn, gin, ...`
std::string spell_known(std::string_view name, const std::vector<std::string_view>& known);

}  // namespace egc
