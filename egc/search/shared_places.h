// What sets that share members tell about each other.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace egc::search {

// sets: all of one size out of some members, once each (subsets in space.h).   order: their places
// in a ranking that chance had a hand in, the best first.
// Returned: a ranking with less of it. A set's place counts half; the other half is where the sum
// of its members' effects would put it (least squares over all sets), and an effect is known from
// all the sets that have the member: 15 of the 35 sets of three out of seven.
std::vector<size_t> shared_order(const std::vector<std::vector<std::string>>& sets,
                                 const std::vector<size_t>& order);

}  // namespace egc::search
