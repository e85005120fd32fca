// What sets that share members tell about each other.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace egc::search {

// sets: all of one size out of some members, once each (subsets in space.h).   scores: of each, in
// which chance had a hand; NaN where there is none.
// Returned: their places, the best first, with less of it. The place that its score gives a set
// counts half; the other half is where the sum of its members' effects would put it (least squares
// over all sets), and an effect is known from all the sets that have the member: 15 of the 35 sets
// of three out of seven. Sets without a score are last.
std::vector<size_t> shared_order(const std::vector<std::vector<std::string>>& sets,
                                 const std::vector<double>& scores, bool lower_is_better);

}  // namespace egc::search
