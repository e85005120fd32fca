#include "egc/data/splits.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "egc/core/error.h"
#include "egc/data/shuffle.h"

namespace egc::data {
namespace {

// Streams of the seed, so that the two draws have nothing to do with each other.
constexpr uint64_t kSplitStream = 0x5B117;
constexpr uint64_t kValidStream = 0x5A11D;

Array<int64_t> sorted(std::vector<int64_t> ids) {
  std::sort(ids.begin(), ids.end());
  return ids;
}

}  // namespace

void check_split(const Split& split, int64_t items, const std::string& where) {
  std::vector<bool> taken(static_cast<size_t>(items), false);
  for (const Array<int64_t>* part : {&split.train, &split.valid, &split.test})
    for (const int64_t id : *part) {
      check_data(id >= 0 && id < items, "{}: an id must be in [0, {}), got {}", where, items, id);
      check_data(!taken[id], "{}: duplicate id {}", where, id);
      taken[id] = true;
    }
  check_data(!split.train.empty() && !split.test.empty(),
             "{}: training and test set must not be empty, got {} and {} items", where,
             split.train.size(), split.test.size());
}

Split random_split(int64_t items, std::array<double, 3> fractions, uint64_t seed) {
  const double sum = fractions[0] + fractions[1] + fractions[2];
  for (const double f : fractions)
    check(f >= 0 && f <= 1, "split: every fraction must be in [0, 1], got {}", f);
  check(std::abs(sum - 1) < 1e-6, "split: the fractions must add up to 1, got {}", sum);
  std::vector<int64_t> ids(static_cast<size_t>(items));
  std::iota(ids.begin(), ids.end(), 0);
  Rng rng(seed, kSplitStream);
  shuffle(ids, rng);
  const auto rounded = [&](int part) {
    return static_cast<int64_t>(std::llround(fractions[part] * static_cast<double>(items)));
  };
  std::array<int64_t, 3> count = {rounded(0), std::min(rounded(1), items - rounded(0)), 0};
  count[2] = items - count[0] - count[1];
  // Of few items, every part that was asked for gets one.
  for (int part = 0; part < 3; ++part)
    if (int64_t& largest = *std::max_element(count.begin(), count.end());
        fractions[part] > 0 && count[part] == 0 && largest > 1) {
      --largest;
      ++count[part];
    }
  const auto valid = ids.begin() + count[0];
  const auto test = valid + count[1];
  return {"random", sorted({ids.begin(), valid}), sorted({valid, test}), sorted({test, ids.end()})};
}

Split ranges_split(const std::string& name, int64_t train, int64_t valid, int64_t test) {
  const auto range = [](int64_t begin, int64_t count) {
    std::vector<int64_t> ids(static_cast<size_t>(count));
    std::iota(ids.begin(), ids.end(), begin);
    return ids;
  };
  return {name, range(0, train), range(train, valid), range(train + valid, test)};
}

Split cut_valid(const Split& split, double fraction, uint64_t seed) {
  check(fraction > 0 && fraction < 1, "cut_valid: the fraction must be between 0 and 1, got {}",
        fraction);
  check(split.valid.empty(), "cut_valid: split \"{}\" has a validation set already", split.name);
  std::vector<int64_t> ids(split.train.begin(), split.train.end());
  check_data(ids.size() >= 2,
             "split \"{}\": a training set of {} is too small to take a validation set from",
             split.name, ids.size());
  Rng rng(seed, kValidStream);
  shuffle(ids, rng);
  const auto cut = std::clamp<int64_t>(std::llround(fraction * static_cast<double>(ids.size())), 1,
                                       static_cast<int64_t>(ids.size()) - 1);
  return {split.name, sorted({ids.begin() + cut, ids.end()}),
          sorted({ids.begin(), ids.begin() + cut}), split.test};
}

Split with_valid(const Dataset& dataset, const std::string& name) {
  const Split& split = dataset.split(name);
  constexpr double kFraction = 0.1;
  constexpr uint64_t kSeed = 0;  // of the dataset, not of a run
  return split.valid.empty() ? cut_valid(split, kFraction, kSeed) : split;
}

}  // namespace egc::data
