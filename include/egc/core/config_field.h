// A field of a configuration: its key, flag and help text. Each configuration struct lists its
// fields once (models/model_config.cpp, train/run_config.cpp); JSON, flags, help, reports and
// docs/parameters.md follow from these lists.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace egc {

// A field as the list declares it.
struct ConfigField {
  const char* key;        // in JSON
  const char* help = "";  // what it does; kOfDataset where the dataset determines it
  // The command-line flag. Empty: "--" and the key with dashes.
  const char* flag = "";
  // How earlier versions wrote the key: read where the key itself is missing, never written.
  const char* old_key = "";
};
// Value of ConfigField::help for fields that the dataset determines: they have no flag.
inline constexpr const char* kOfDataset = nullptr;

// The type of a field's value: bool, integer, floating point, string, a list of strings, or a bool
// or string.
enum class FieldKind { kSwitch, kInteger, kNumber, kText, kList, kSwitchOrText };

// A field as programs see it, for instance to make flags and help.
struct FieldFacts {
  std::string key;                    // in JSON
  std::string help;                   // what it does; empty where the dataset determines it
  std::string flag;                   // with dashes; empty where there is none
  FieldKind kind = FieldKind::kText;  // type of the value
  std::vector<std::string> layers;    // layers that take the field; empty: all
};

// Describes a field: fills in the default flag.
FieldFacts facts_of(const ConfigField& field, FieldKind kind);

// The kind of a C++ type.
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

// Converts a value from the command line to JSON. Throws kUsage with the flag, the expected form
// and the text found.
std::string json_of_text(const FieldFacts& field, const std::string& text);

}  // namespace egc
