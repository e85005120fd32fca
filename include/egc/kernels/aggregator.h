// The seven aggregators, the self-loop modes, and the ordered set of aggregators that a layer uses.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)  // the only ones of this module that users see
namespace egc {

// A function over the messages of a node's in-neighbours. Symnorm is the sum weighted by
// 1/sqrt(deg(i) deg(j)), as in GCN; var and std are those of the population.
enum class Aggregator : uint8_t { kAdd, kMean, kSymnorm, kMax, kMin, kVar, kStd };
inline constexpr int kNumAggregators = 7;  // number of aggregators

// Which aggregators add a self-loop to every node: all of them (the paper's equation), only symnorm
// (the authors' experiments), or none. An added loop replaces loops of the graph.
enum class SelfLoops : uint8_t { kAll, kSymnorm, kNone };

// Epsilon of std: added to the variance before the square root.
inline constexpr double kStdEpsilon = 1e-5;

// The aggregator of a name; "sum" is an alias of "add". Throws kUsage for an unknown name.
Aggregator parse_aggregator(std::string_view name);
std::string_view name_of(Aggregator aggregator);  // as in configurations: "symnorm"
// The mode of a name: all, symnorm or none. Throws kUsage for an unknown name.
SelfLoops parse_self_loops(std::string_view name);
std::string_view name_of(SelfLoops mode);  // as in configurations: "all"

// An ordered list of one to seven different aggregators. The order is that of the combination
// weights.
class AggregatorSet {
 public:
  // From a list: `{Aggregator::kAdd, Aggregator::kMax}`. Throws kUsage if it is empty or has
  // duplicates.
  AggregatorSet(std::initializer_list<Aggregator> list)
      : AggregatorSet(std::span<const Aggregator>(list.begin(), list.size())) {}
  // As above.
  explicit AggregatorSet(std::span<const Aggregator> list);

  int size() const { return size_; }                       // number of aggregators A
  Aggregator operator[](int i) const { return list_[i]; }  // the i-th aggregator
  // Whether the set contains it.
  bool has(Aggregator a) const { return (mask_ >> static_cast<int>(a) & 1) != 0; }
  const Aggregator* begin() const { return list_.data(); }        // for range-based loops
  const Aggregator* end() const { return list_.data() + size_; }  // for range-based loops
  bool operator==(const AggregatorSet&) const = default;  // same aggregators in the same order

 private:
  std::array<Aggregator, kNumAggregators> list_{};
  int size_ = 0;
  uint8_t mask_ = 0;
};

// The set of some names. Throws kUsage for unknown names, duplicates or an empty list.
AggregatorSet parse_aggregators(const std::vector<std::string>& names);

}  // namespace egc
#pragma GCC visibility pop
