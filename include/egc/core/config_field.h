// A field of the configuration: how files and the command line call it, and what it is. Structs of
// the configuration list theirs once (models/model_config.cpp, train/run_config.cpp); flags, JSON,
// help, reports and the parameter reference follow from these lists.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace egc {

struct ConfigField {
  const char* key;
  const char* help = "";
  // Empty: "--" and the key with dashes.
  const char* flag = "";
  // How earlier versions wrote the key: read where the key itself is missing, never written.
  const char* old_key = "";
};
// As `help`: the dataset decides, so there is no flag.
inline constexpr const char* kOfDataset = nullptr;

enum class FieldKind { kSwitch, kInteger, kNumber, kText, kList };

// What a list of fields tells of each.
struct FieldFacts {
  std::string key, help, flag;  // no flag: empty
  FieldKind kind = FieldKind::kText;
  std::vector<std::string> layers;  // that take it; empty: all
};

FieldFacts facts_of(const ConfigField& field, FieldKind kind);

template <class Value>
constexpr FieldKind kind_of() {
  if constexpr (std::is_same_v<Value, bool>)
    return FieldKind::kSwitch;
  else if constexpr (std::is_integral_v<Value>)
    return FieldKind::kInteger;
  else if constexpr (std::is_floating_point_v<Value>)
    return FieldKind::kNumber;
  else
    return FieldKind::kText;
}

// The JSON of a value as it stands on a command line. Throws kUsage with the flag, what was
// expected and what came.
std::string json_of_text(const FieldFacts& field, const std::string& text);

}  // namespace egc
