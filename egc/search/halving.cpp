#include "egc/search/halving.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "egc/core/error.h"

namespace egc::search {

std::vector<Rung> halving_rungs(size_t trials, int64_t first_epochs, int64_t max_epochs,
                                int64_t factor) {
  check(trials >= 1 && first_epochs >= 1 && max_epochs >= 1 && factor >= 2,
        "halving needs trials, epochs and a factor of at least 2, got {} trials, {} to {} epochs, "
        "factor {}",
        trials, first_epochs, max_epochs, factor);
  std::vector<Rung> out;
  int64_t epochs = std::min(first_epochs, max_epochs);
  for (;;) {
    out.push_back({epochs, trials, epochs >= max_epochs});
    if (epochs >= max_epochs) return out;
    trials = std::max<size_t>(1, trials / static_cast<size_t>(factor));
    epochs = epochs > max_epochs / factor ? max_epochs : epochs * factor;
  }
}

std::vector<size_t> best_of(const std::vector<double>& scores, size_t count, bool lower_is_better) {
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    if (std::isnan(scores[a]) || std::isnan(scores[b]))
      return !std::isnan(scores[a]) && std::isnan(scores[b]);
    return lower_is_better ? scores[a] < scores[b] : scores[a] > scores[b];
  });
  order.resize(std::min(count, order.size()));
  return order;
}

}  // namespace egc::search
