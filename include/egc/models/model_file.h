// A model in a file: safetensors with the configuration in the metadata, readable from elsewhere,
// nothing in it is ever executed. A checksum over everything tells a damaged file.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "egc/models/network.h"

namespace egc::models {

// Metadata of the caller, for instance metrics; kept as it is.
using Notes = std::map<std::string, std::string>;

// kHalf: matrices as float16, half the size, rounded to 11 bits. Vectors (biases, batch norm) stay.
enum class Storage { kFull, kHalf };

// Never a half-written file. Notes must not use the names format, config and checksum.
void save_network(const std::filesystem::path& path, const Network& network,
                  const Notes& notes = {}, Storage storage = Storage::kFull);

struct LoadedNetwork {
  std::shared_ptr<Network> network;
  Notes notes;
};

// Whatever is wrong with the file is ErrorKind::kModel.
LoadedNetwork load_network(const std::filesystem::path& path);

}  // namespace egc::models
