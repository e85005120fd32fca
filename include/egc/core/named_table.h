// Tables that translate names of the command line and of files to values, and back.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "egc/core/error.h"
#include "egc/core/nearest_name.h"

namespace egc {

// An ordered list of names with their values.
template <class Value>
class NamedTable {
 public:
  // A name and its value.
  struct Entry {
    std::string_view name;  // as users write it
    Value value;            // what it stands for
  };

  // `what` is the noun of error messages: unknown aggregator "mx"; known: add, mean, ...
  NamedTable(std::string_view what, std::vector<Entry> entries)
      : what_(what), entries_(std::move(entries)) {}

  // The value of a name. Throws kUsage with the nearest and all known names if there is none.
  const Value& at(std::string_view name) const {
    for (const Entry& e : entries_)
      if (e.name == name) return e.value;
    fail(ErrorKind::kUsage, "unknown {} \"{}\"{}", what_, name, spell_known(name, names()));
  }

  // The first name of a value; later entries with the same value are aliases. Throws kUsage for a
  // value without a name.
  std::string_view name_of(const Value& value) const {
    for (const Entry& e : entries_)
      if (e.value == value) return e.name;
    fail(ErrorKind::kUsage, "a value without a name in the table of {}s", what_);
  }

  // All names, aliases too.
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
