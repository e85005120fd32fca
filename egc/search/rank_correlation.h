// How far two measures rise together, whatever their scales.
#pragma once

#include <span>

namespace egc::search {

// Spearman's: that of the ranks, from -1 to 1; equal values share their ranks. Pairs with a NaN
// count nothing. NaN for fewer than three pairs, and where one of the two is constant.
double rank_correlation(std::span<const double> a, std::span<const double> b);

}  // namespace egc::search
