// JSON without surprises: an object that names a key twice is refused. JSON libraries keep one of
// the two silently, an attacker's favourite.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "egc/core/error.h"

namespace egc {

// Json: nlohmann::json or ordered_json.   `where` and `kind` are those of the error.
template <class Json>
Json parse_json(std::string_view text, const std::string& where, ErrorKind kind) {
  std::vector<std::set<std::string>> open;        // keys of the objects around the current place
  if (text.find('\0') != std::string_view::npos)  // the library would stop there, and be content
    fail(kind, "{}: is not valid JSON: it has a NUL byte", where);
  const auto watch = [&](int depth, typename Json::parse_event_t event, Json& value) {
    using Event = typename Json::parse_event_t;
    // Copies and destructors recurse; nothing of ours is nested half as deep.
    if (depth > 64) fail(kind, "{}: the JSON is nested too deeply", where);
    if (event == Event::object_start) open.emplace_back();
    if (event == Event::object_end) open.pop_back();
    if (event == Event::key && !open.back().insert(value.template get<std::string>()).second)
      fail(kind, "{}: names \"{}\" twice", where, value.template get<std::string>());
    return true;
  };
  try {
    return Json::parse(text, watch);
  } catch (const typename Json::exception& e) {
    fail(kind, "{}: is not valid JSON: {}", where, e.what());
  }
}

}  // namespace egc
