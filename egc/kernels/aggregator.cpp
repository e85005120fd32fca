#include "egc/kernels/aggregator.h"

#include "egc/core/named_table.h"

namespace egc {
namespace {

const NamedTable<Aggregator>& aggregators() {
  static const NamedTable<Aggregator> table("aggregator", {{"add", Aggregator::kAdd},
                                                           {"mean", Aggregator::kMean},
                                                           {"symnorm", Aggregator::kSymnorm},
                                                           {"max", Aggregator::kMax},
                                                           {"min", Aggregator::kMin},
                                                           {"var", Aggregator::kVar},
                                                           {"std", Aggregator::kStd},
                                                           {"sum", Aggregator::kAdd}});
  return table;
}

const NamedTable<SelfLoops>& self_loops() {
  static const NamedTable<SelfLoops> table(
      "self-loop mode",
      {{"all", SelfLoops::kAll}, {"symnorm", SelfLoops::kSymnorm}, {"none", SelfLoops::kNone}});
  return table;
}

}  // namespace

Aggregator parse_aggregator(std::string_view name) { return aggregators().at(name); }
std::string_view name_of(Aggregator aggregator) { return aggregators().name_of(aggregator); }
SelfLoops parse_self_loops(std::string_view name) { return self_loops().at(name); }
std::string_view name_of(SelfLoops mode) { return self_loops().name_of(mode); }

AggregatorSet::AggregatorSet(std::span<const Aggregator> list) {
  check(!list.empty(), "aggregators: at least one is needed, got none");
  for (const Aggregator a : list) {
    check(!has(a), "duplicate aggregator \"{}\"", name_of(a));
    list_[size_++] = a;
    mask_ |= static_cast<uint8_t>(1U << static_cast<int>(a));
  }
}

AggregatorSet parse_aggregators(const std::vector<std::string>& names) {
  std::vector<Aggregator> list;
  for (const std::string& name : names) list.push_back(parse_aggregator(name));
  return AggregatorSet(list);
}

}  // namespace egc
