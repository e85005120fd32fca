// Named tensors in a safetensors file of one of our formats, with a checksum over everything.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "egc/core/safetensors.h"
#include "egc/tensor/nd_array.h"

namespace egc::models {

using Metadata = std::map<std::string, std::string>;

// Never a half-written file. The metadata must not use the names format and checksum.
void write_tensor_file(const std::filesystem::path& path, const std::string& format,
                       const State& tensors, Metadata metadata);

// Throws kModel unless it is a whole file of that format with these keys in its metadata. `what`
// names its kind: "model".
SafetensorsFile open_tensor_file(const std::filesystem::path& path, const std::string& format,
                                 const char* what, const std::vector<std::string>& keys);

// All tensors of a file, copied.
State read_tensors(const SafetensorsFile& file);

}  // namespace egc::models
