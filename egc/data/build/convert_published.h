// From what publishers ship as Python objects to datasets.
#pragma once

#include <array>
#include <filesystem>

#include "egc/data/dataset.h"

namespace egc::data {

// ZINC as benchmarking-gnns and PyTorch Geometric take it: {train,val,test}.pickle with lists of
// dictionaries (atom_type, bond_type, logP_SA_cycle_normalized), and the .index files that choose
// the 12,000.
Dataset convert_zinc(const std::filesystem::path& dir);

// PyTorch Geometric's CIFAR10_v2.pt: [train, valid, test], dictionaries of x, pos, edge_index, y.
Dataset convert_pyg_superpixels(const std::filesystem::path& file);

}  // namespace egc::data
