// Reading JSON into typed fields: every key is asked for once, what was not asked for is refused
// with the known keys, and an error names the place, the key, what was expected and what came.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "egc/core/config_field.h"
#include "egc/core/error.h"
#include "egc/core/word_field.h"

namespace egc {

class JsonReader {
 public:
  JsonReader(const nlohmann::ordered_json& json, std::string where);

  // Whether the key was there; its value if so.
  bool read(const char* key, nlohmann::ordered_json& to) { return get(key, to); }
  bool read(const char* key, bool& to);
  bool read(const char* key, int64_t& to);
  bool read(const char* key, double& to);
  bool read(const char* key, std::string& to);
  bool read(const char* key, std::vector<int64_t>& to);
  bool read(const char* key, std::vector<std::string>& to);
  bool read(const char* key, std::vector<std::vector<std::string>>& to);

  // As a visitor of fields: what is not there keeps its value.
  template <class Value>
  void operator()(const ConfigField& field, Value& to) {
    read(key_of(field), to);
  }
  template <class Value>
  void operator()(const ConfigField& field, std::optional<Value>& to) {
    Value value{};
    if (read(key_of(field), value)) to = value;
  }
  template <class Value>
  void operator()(const ConfigField& field, Word<Value> to) {
    const char* key = key_of(field);
    std::string name;
    if (!read(key, name)) return;
    try {
      to.value = to.parse(name);
    } catch (const Error& e) {
      fail_at(key, "is invalid: {}", e.what());
    }
  }

  // Call after the last read.
  void refuse_unknown() const;

  template <class... Args>
  [[noreturn]] void fail_at(const char* key, fmt::format_string<Args...> format,
                            Args&&... args) const {
    fail(ErrorKind::kUsage, "{}{}\"{}\" {}", where_, where_.empty() ? "" : ": ", key,
         fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  const char* key_of(const ConfigField& field) const;
  bool get(const char* key, nlohmann::ordered_json& to);
  template <class Value>
  bool read_list(const char* key, const char* what, std::vector<Value>& to,
                 bool (nlohmann::ordered_json::*is)() const noexcept);

  const nlohmann::ordered_json& json_;
  std::string where_;
  std::vector<std::string> known_;
};

}  // namespace egc
