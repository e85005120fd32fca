#include "egc/core/config_field.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "egc/core/error.h"

namespace egc {
namespace {

template <class Number>
Number number_of(const FieldFacts& field, const std::string& text, const char* expected) {
  Number value{};
  const char* end = text.data() + text.size();
  const char* begin = text.data();
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') ++begin;
  const auto [last, error] = std::from_chars(begin, end, value);
  check(error == std::errc() && last == end, "{} must be {}, got {}", field.flag, expected, text);
  return value;
}

std::string flag_of(const ConfigField& field) {
  if (*field.flag != 0) return field.flag;
  std::string out = std::string("--") + field.key;
  std::replace(out.begin(), out.end(), '_', '-');
  return out;
}

}  // namespace

FieldFacts facts_of(const ConfigField& field, FieldKind kind) {
  if (field.help == kOfDataset) return {field.key, "", "", kind, {}};
  return {field.key, field.help, flag_of(field), kind, {}};
}

std::string json_of_text(const FieldFacts& field, const std::string& text) {
  using Json = nlohmann::json;
  const auto dump = [](const Json& value) {
    return value.dump(-1, ' ', false, Json::error_handler_t::replace);
  };
  switch (field.kind) {
    case FieldKind::kSwitch:
      check(text == "true" || text == "false", "{} must be true or false, got {}", field.flag,
            text);
      return text;
    case FieldKind::kInteger:
      return dump(number_of<int64_t>(field, text, "an integer"));
    case FieldKind::kNumber:
      return dump(number_of<double>(field, text, "a number"));
    case FieldKind::kText:
      return dump(text);
    case FieldKind::kSwitchOrText:
      return text == "true" || text == "false" ? text : dump(text);
    case FieldKind::kList:
      break;
  }
  Json list = Json::array();
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    list.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return dump(list);
}

}  // namespace egc
