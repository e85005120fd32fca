// Python pickles as plain values. Nothing is executed and nothing is looked up: a global is a pair
// of names, a call is written down as its callable and arguments, for the reader to understand or
// refuse. All protocols from 0 to 5.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "egc/core/error.h"

namespace egc::data {

class PyValue {
 public:
  enum class Kind {
    kNone,
    kBool,
    kInt,
    kFloat,
    kText,
    kBytes,
    kList,
    kTuple,
    kDict,  // items: key, value, key, value, ...; an OrderedDict too
    kSet,
    kGlobal,     // text: "module name", for instance "torch FloatStorage"
    kCall,       // items: callable, argument tuple, and the state where one was set
    kPersistent  // items: the id
  };
  Kind kind = Kind::kNone;
  int64_t number = 0;  // kInt, kBool
  double real = 0;     // kFloat
  std::string_view text;
  std::vector<const PyValue*> items;

  bool is(Kind k) const { return kind == k; }
  // The value of a text key of a dictionary, or nullptr.
  const PyValue* find(std::string_view key) const;
  // Whether this is a call of the global "module name".
  bool is_call(std::string_view global) const;
};

// Owns the values. They may refer to each other in circles: walk them with a limit.
class Pickle {
 public:
  // The first pickle in `bytes`, which must outlive this object; `used` tells where it ended.
  // Throws `kind` where the bytes are no pickle; `where` begins the message.
  Pickle(std::string_view bytes, const std::string& where, ErrorKind kind);

  const PyValue& root() const { return *root_; }
  size_t used() const { return used_; }

 private:
  friend class PickleReader;
  std::deque<PyValue> values_;
  std::deque<std::string> texts_;  // those that had escapes
  const PyValue* root_ = nullptr;
  size_t used_ = 0;
};

}  // namespace egc::data
