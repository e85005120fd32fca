// A field whose value is written as a word: how it is read, and how it is written.
#pragma once

#include <string_view>

#include "egc/core/named_table.h"

namespace egc {

template <class Value>
struct Word {
  Value& value;
  Value (*parse)(std::string_view);
  std::string_view (*name)(Value);
};

// A value of a table's names.
template <class Value, const NamedTable<Value>& (*kTable)()>
Word<Value> word(Value& value) {
  return {value, [](std::string_view n) { return kTable().at(n); },
          [](Value v) { return kTable().name_of(v); }};
}

}  // namespace egc
