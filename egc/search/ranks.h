// Statistics over ranks.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace egc::search {

// Spearman's rank correlation, from -1 to 1: how far two measures rise together, whatever their
// scales; equal values share their ranks. Pairs with a NaN
// count nothing. NaN for fewer than three pairs, and where one of the two is constant.
double rank_correlation(std::span<const double> a, std::span<const double> b);

// The order of sets that share members, which tell about each other.
// sets: all of one size out of some members, once each (subsets in space.h).   scores: of each, in
// which chance had a hand; NaN where there is none.
// Returned: their places, the best first, with less of it. The place that its score gives a set
// counts half; the other half is where the sum of its members' effects would put it (least squares
// over all sets), and an effect is known from all the sets that have the member: 15 of the 35 sets
// of three out of seven. Sets without a score are last.
std::vector<size_t> shared_order(const std::vector<std::vector<std::string>>& sets,
                                 const std::vector<double>& scores, bool lower_is_better);

}  // namespace egc::search
