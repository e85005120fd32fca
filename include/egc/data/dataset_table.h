// The datasets of the paper: what they are called, where their publishers have them, and the
// published figures that a true copy must show.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace egc::data {

// How the publisher's archive becomes a dataset directory.
enum class Packing {
  kOgbRaw,       // already in the raw layout
  kZincPickles,  // lists of dictionaries of tensors, pickled; the 12,000 are chosen by index files
  kPygTensors    // PyTorch's file of [train, valid, test], lists of dictionaries of tensors
};

struct Download {
  const char* url = "";
  const char* sha256 = "";  // empty: not known; the published figures are what is checked then
  int64_t bytes = 0;        // 0: not known
};

struct Published {
  int64_t graphs = 0;
  double mean_nodes = 0;  // per graph
  double mean_edges = 0;  // per graph, as stored
  std::array<int64_t, 3> split = {};
};

struct KnownDataset {
  const char* name;
  const char* what;
  std::vector<std::string_view> folders;  // other names of it, as folders or on the command line
  const char* info_json;
  Packing packing;
  std::vector<Download> downloads;
  Published published;
};

const std::vector<KnownDataset>& known_datasets();
// By its name or a folder's; nullptr where there is none.
const KnownDataset* find_known(std::string_view name);

}  // namespace egc::data
