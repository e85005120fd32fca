// Strings at the edge, values inside: an explicit table of names. An unknown name lists the known,
// and the nearest first.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "egc/core/error.h"
#include "egc/core/nearest_name.h"

namespace egc {

template <class Value>
class NamedTable {
 public:
  struct Entry {
    std::string_view name;
    Value value;
  };

  // `what` is the noun of the error message: unknown aggregator "mx"; known: add, mean, ...
  NamedTable(std::string_view what, std::vector<Entry> entries)
      : what_(what), entries_(std::move(entries)) {}

  const Value& at(std::string_view name) const {
    for (const Entry& e : entries_)
      if (e.name == name) return e.value;
    fail(ErrorKind::kUsage, "unknown {} \"{}\"{}", what_, name, spell_known(name, names()));
  }

  // The first name of a value; a later entry with the same value is an alias.
  std::string_view name_of(const Value& value) const {
    for (const Entry& e : entries_)
      if (e.value == value) return e.name;
    fail(ErrorKind::kUsage, "a value without a name in the table of {}s", what_);
  }

  std::vector<std::string_view> names() const {
    std::vector<std::string_view> out;
    for (const Entry& e : entries_) out.push_back(e.name);
    return out;
  }

 private:
  std::string_view what_;
  std::vector<Entry> entries_;
};

}  // namespace egc
