// Model files: safetensors with the configuration and a checksum in the metadata. Loading executes
// nothing.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "egc/models/network.h"

namespace egc::models {

// Metadata of the caller, for instance metrics.
using Notes = std::map<std::string, std::string>;

// Precision of the file. kHalf stores matrices as float16, half the size; vectors (biases, batch
// norm) stay float32.
enum class Storage { kFull, kHalf };

// Writes a model file, atomically. Notes must not use the keys format, config and checksum.
void save_network(const std::filesystem::path& path, const Network& network,
                  const Notes& notes = {}, Storage storage = Storage::kFull);

// A network from a file.
struct LoadedNetwork {
  std::shared_ptr<Network> network;  // with its parameters
  Notes notes;                       // as saved
};

// Reads a model file. Throws kModel where it is damaged or not a model.
LoadedNetwork load_network(const std::filesystem::path& path);

}  // namespace egc::models
