// The published datasets of the paper: names, download addresses, and the figures that a correct
// copy must have.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace egc::data {

// The form of a published archive.
enum class Packing {
  kOgbRaw,  // already in the raw layout
  // Pickled lists of dictionaries of tensors; the 12,000 graphs are chosen by index files.
  kZincPickles,
  kPygTensors  // PyTorch's file of [train, valid, test], lists of dictionaries of tensors
};

// A file to download.
struct Download {
  const char* url = "";     // address
  const char* sha256 = "";  // hexadecimal; empty: unknown, only the published figures are checked
  int64_t bytes = 0;        // size; 0: unknown
};

// Published figures of a dataset; 0: not published.
struct Published {
  int64_t graphs = 0;                 // number of graphs
  double mean_nodes = 0;              // per graph
  double mean_edges = 0;              // per graph, as stored
  std::array<int64_t, 3> split = {};  // sizes of training, validation and test set
};

// A published dataset.
struct KnownDataset {
  const char* name;                       // on the command line
  const char* what;                       // a short description
  std::vector<std::string_view> folders;  // other names, as folders or on the command line
  const char* info_json;                  // its dataset.json
  Packing packing;                        // form of the archive
  std::vector<Download> downloads;        // files to download
  Published published;                    // figures that a correct copy has
};

const std::vector<KnownDataset>& known_datasets();  // all of them
// A dataset by its name or a folder's; nullptr if unknown.
const KnownDataset* find_known(std::string_view name);

}  // namespace egc::data
