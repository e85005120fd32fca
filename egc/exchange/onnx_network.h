// A network as an ONNX file of standard operators, for inference elsewhere.
//
// Inputs: x, the features (float [nodes, F], or int64 [nodes, K] categories); edge_index, int64
// [2, edges], row 0 sources, row 1 targets, as the network was trained on them (both directions of
// an undirected graph); for tasks on graphs also graph, int64 [nodes], which graph a node belongs
// to. Output: output, what Network::forward gives in evaluation.
#pragma once

#include <filesystem>

#include "egc/models/network.h"

namespace egc::exchange {

// Throws kUsage, by name, for layers and tasks that have no form in ONNX here.
void write_onnx(const std::filesystem::path& path, const models::Network& network);

}  // namespace egc::exchange
