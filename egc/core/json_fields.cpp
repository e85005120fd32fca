#include "egc/core/json_fields.h"

#include <algorithm>

#include "egc/core/nearest_name.h"

namespace egc {

using Json = nlohmann::ordered_json;

JsonReader::JsonReader(const Json& json, std::string where)
    : json_(json), where_(std::move(where)) {
  check(json.is_object(), "{}: expected a JSON object, got {}", where_, json.type_name());
}

const char* JsonReader::key_of(const ConfigField& field) const {
  const bool is_old =
      *field.old_key != 0 && json_.contains(field.old_key) && !json_.contains(field.key);
  return is_old ? field.old_key : field.key;
}

bool JsonReader::get(const char* key, Json& to) {
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.emplace_back(key);
  const auto it = json_.find(key);
  if (it == json_.end()) return false;
  to = *it;
  return true;
}

bool JsonReader::read(const char* key, bool& to) {
  Json value;
  if (!get(key, value)) return false;
  if (!value.is_boolean()) fail_at(key, "must be true or false, got {}", value.dump());
  to = value.get<bool>();
  return true;
}

bool JsonReader::read(const char* key, int64_t& to) {
  Json value;
  if (!get(key, value)) return false;
  if (!value.is_number_integer() ||
      (value.is_number_unsigned() && value.get<uint64_t>() > uint64_t{INT64_MAX}))
    fail_at(key, "must be an integer, got {}", value.dump());
  to = value.get<int64_t>();
  return true;
}

bool JsonReader::read(const char* key, double& to) {
  Json value;
  if (!get(key, value)) return false;
  if (!value.is_number()) fail_at(key, "must be a number, got {}", value.dump());
  to = value.get<double>();
  return true;
}

bool JsonReader::read(const char* key, std::string& to) {
  Json value;
  if (!get(key, value)) return false;
  if (!value.is_string()) fail_at(key, "must be a string, got {}", value.dump());
  to = value.get<std::string>();
  return true;
}

template <class Value>
bool JsonReader::read_list(const char* key, const char* what, std::vector<Value>& to,
                           bool (Json::*is)() const noexcept) {
  Json value;
  if (!get(key, value)) return false;
  if (!value.is_array() ||
      !std::all_of(value.begin(), value.end(), [is](const Json& item) { return (item.*is)(); }))
    fail_at(key, "must be a list of {}, got {}", what, value.dump());
  to = value.get<std::vector<Value>>();
  return true;
}

bool JsonReader::read(const char* key, std::vector<int64_t>& to) {
  Json value;
  if (!get(key, value)) return false;
  if (value.is_array())
    for (const Json& item : value)
      if (item.is_number_unsigned() && item.get<uint64_t>() > uint64_t{INT64_MAX})
        fail_at(key, "must be a list of integers, got {}", value.dump());
  return read_list(key, "integers", to, &Json::is_number_integer);
}

bool JsonReader::read(const char* key, std::vector<std::string>& to) {
  return read_list(key, "strings", to, &Json::is_string);
}

bool JsonReader::read(const char* key, std::vector<std::vector<std::string>>& to) {
  Json value;
  if (!get(key, value)) return false;
  bool fine = value.is_array();
  for (size_t k = 0; fine && k < value.size(); ++k)
    fine = value[k].is_array() && std::all_of(value[k].begin(), value[k].end(),
                                              [](const Json& item) { return item.is_string(); });
  if (!fine) fail_at(key, "must be a list of lists of strings, got {}", value.dump());
  to = value.get<std::vector<std::vector<std::string>>>();
  return true;
}

void JsonReader::refuse_unknown() const {
  for (const auto& [key, value] : json_.items())
    check(std::find(known_.begin(), known_.end(), key) != known_.end(), "{}: unknown key \"{}\"{}",
          where_, key, spell_known(key, {known_.begin(), known_.end()}));
}

}  // namespace egc
