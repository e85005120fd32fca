// JSON without surprises: an object that names a key twice is refused. JSON libraries keep one of
// the two silently, an attacker's favourite.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "egc/core/error.h"
#include "egc/core/text_file.h"

namespace egc {

// Without the library's "[json.exception.parse_error.101] ".
inline std::string reason_of(const std::exception& error) {
  const std::string text = error.what();
  const size_t end = text.find("] ");
  return text.starts_with("[json.") && end != std::string::npos ? text.substr(end + 2) : text;
}

// Goes over the text before anything is built. The library's own callback would do while building,
// but it looks at all members of an object whenever one of them ends: the square of their number.
template <class Json>
class JsonStructureCheck {
 public:
  JsonStructureCheck(const std::string& where, ErrorKind kind) : where_(where), kind_(kind) {}

  bool null() { return true; }
  bool boolean(bool /*value*/) { return true; }
  bool number_integer(typename Json::number_integer_t /*value*/) { return true; }
  bool number_unsigned(typename Json::number_unsigned_t /*value*/) { return true; }
  bool number_float(typename Json::number_float_t /*value*/, const std::string& /*text*/) {
    return true;
  }
  bool string(std::string& /*value*/) { return true; }
  bool binary(typename Json::binary_t& /*value*/) { return true; }
  bool start_object(size_t /*count*/) { return open(); }
  bool start_array(size_t /*count*/) { return open(); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& name) {
    // An ordered object looks for every key among all before.
    constexpr size_t kMaxOrdered = 10'000;
    if (std::is_same_v<Json, nlohmann::ordered_json> && ++keys_ > kMaxOrdered)
      fail(kind_, "{}: the JSON has more than {} keys", where_, kMaxOrdered);
    if (!open_.back().insert(name).second) fail(kind_, "{}: duplicate key \"{}\"", where_, name);
    return true;
  }
  bool parse_error(size_t /*at*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& e) {
    fail(kind_, "{}: invalid JSON: {}", where_, reason_of(e));
  }

 private:
  bool open() {
    // Copies and destructors recurse; nothing of ours is nested half as deep.
    if (open_.size() == 64) fail(kind_, "{}: the JSON is nested too deeply", where_);
    open_.emplace_back();
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  const std::string& where_;
  ErrorKind kind_;
  std::vector<std::set<std::string>> open_;  // keys of what is around the current place
  size_t keys_ = 0;
};

// Json: nlohmann::json or ordered_json.   `where` and `kind` are those of the error.
template <class Json>
Json parse_json(std::string_view text, const std::string& where, ErrorKind kind) {
  if (text.find('\0') != std::string_view::npos)  // the library would stop there, and be content
    fail(kind, "{}: invalid JSON: it contains a NUL byte", where);
  JsonStructureCheck<Json> watch(where, kind);
  Json::sax_parse(text, &watch);
  try {
    return Json::parse(text);
  } catch (const typename Json::exception& e) {
    fail(kind, "{}: invalid JSON: {}", where, reason_of(e));
  }
}

template <class Json>
Json read_json_file(const std::string& path, ErrorKind kind) {
  return parse_json<Json>(read_text_file(path, kind), path, kind);
}

}  // namespace egc
