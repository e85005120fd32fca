// Files with numbers of independent implementations. EGC_GOLDEN_DIR points at them (or at a
// directory above them); the default is the copy beside the tests.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "egc/graph/csr.h"
#include "egc/tensor/nd_array.h"

namespace egc::testing {

// Whether they are the copy beside the tests, whose number is known.
inline bool golden_files_are_ours() { return std::getenv("EGC_GOLDEN_DIR") == nullptr; }

// A directory that does not exist gives no files; GoldenFiles.AreThere fails then.
inline std::vector<std::filesystem::path> golden_files() {
  const char* chosen = std::getenv("EGC_GOLDEN_DIR");
  const std::filesystem::path dir = chosen != nullptr ? chosen : EGC_SOURCE_DIR "/tests/golden";
  std::vector<std::filesystem::path> files;
  if (std::filesystem::is_directory(dir))
    for (const auto& entry : std::filesystem::recursive_directory_iterator(dir))
      if (entry.path().extension() == ".safetensors") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

// Those whose name begins with one of the prefixes.
inline std::vector<std::string> golden_files(const std::vector<std::string>& prefixes) {
  std::vector<std::string> chosen;
  for (const auto& path : golden_files())
    for (const std::string& prefix : prefixes)
      if (path.stem().string().starts_with(prefix)) chosen.push_back(path.string());
  return chosen;
}

// For names of parameterised tests.
inline std::string golden_name(const std::string& path) {
  std::string name = std::filesystem::path(path).stem().string();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

// The tensors whose names begin with `prefix`, without it.
inline State tensors_under(const SafetensorsFile& file, const std::string& prefix) {
  State out;
  for (const auto& [name, view] : file.tensors())
    if (name.starts_with(prefix)) out[name.substr(prefix.size())] = NdArray(view);
  return out;
}

// edge_index: [2, E], sources and targets.
inline Csr graph_of(const NdArray& edge_index, int64_t num_nodes) {
  const auto ends = edge_index.values<int64_t>();
  const size_t edges = ends.size() / 2;
  return Csr::from_edges(num_nodes, ends.first(edges), ends.last(edges));
}

}  // namespace egc::testing
