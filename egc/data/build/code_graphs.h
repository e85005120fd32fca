// Functions as graphs in Code-V2's form: syntax trees, and the names that are to be told from them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "egc/data/dataset.h"

namespace egc::data {

struct CodeGraph {
  std::vector<int32_t> edges;       // parent, child
  std::vector<int32_t> features;    // type, attribute, depth of each node, in depth-first order
  std::vector<uint8_t> attributed;  // whether each node has an attribute
  std::string name;                 // its words, separated by blanks
};

// The caller adds name and splits.
Dataset code_dataset(const std::vector<CodeGraph>& graphs, int64_t types, int64_t attributes);

}  // namespace egc::data
