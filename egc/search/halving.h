// Successive halving (Jamieson and Talwalkar, AISTATS 2016): all trials train a little, the best of
// them more, the best of those more again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace egc::search {

struct Rung {
  int64_t epochs = 0;     // that each trial has trained when it is judged
  size_t trials = 0;      // how many are there
  bool is_whole = false;  // they train to the end, which early stopping may bring sooner
};

// Of a rung a share of 1/factor goes on, and trains `factor` times as long; the last rung is the
// first with `max_epochs` or more. One rung where max_epochs is not above first_epochs.
std::vector<Rung> halving_rungs(size_t trials, int64_t first_epochs, int64_t max_epochs,
                                int64_t factor);

// The places of the best `count` scores, best first; ties go to the earlier, NaN is the worst.
std::vector<size_t> best_of(const std::vector<double>& scores, size_t count, bool lower_is_better);

}  // namespace egc::search
