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

enum class Aggregator : uint8_t { kAdd, kMean, kSymnorm, kMax, kMin, kVar, kStd };
inline constexpr int kNumAggregators = 7;

// Who sees node i in its own neighbourhood: every aggregator (the paper's equation), only symnorm
// (the authors' experiments), or none. An added loop replaces loops that the graph already has.
enum class SelfLoops : uint8_t { kAll, kSymnorm, kNone };

// Added to the variance before the square root.
inline constexpr double kStdEpsilon = 1e-5;

Aggregator parse_aggregator(std::string_view name);  // "sum" is an alias of "add"
std::string_view name_of(Aggregator aggregator);
SelfLoops parse_self_loops(std::string_view name);
std::string_view name_of(SelfLoops mode);

// An ordered list without repetition, of one to seven.
class AggregatorSet {
 public:
  AggregatorSet(std::initializer_list<Aggregator> list)
      : AggregatorSet(std::span<const Aggregator>(list.begin(), list.size())) {}
  explicit AggregatorSet(std::span<const Aggregator> list);

  int size() const { return size_; }
  Aggregator operator[](int i) const { return list_[i]; }
  bool has(Aggregator a) const { return (mask_ >> static_cast<int>(a) & 1) != 0; }
  const Aggregator* begin() const { return list_.data(); }
  const Aggregator* end() const { return list_.data() + size_; }
  bool operator==(const AggregatorSet&) const = default;

 private:
  std::array<Aggregator, kNumAggregators> list_{};
  int size_ = 0;
  uint8_t mask_ = 0;
};

AggregatorSet parse_aggregators(const std::vector<std::string>& names);

}  // namespace egc
#pragma GCC visibility pop
