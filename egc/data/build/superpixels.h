// Superpixel graphs: features of superpixels, and the rule that joins them. The rule is that of the
// benchmarking-gnns release (its code by Boris Knyazev), with ties decided by the lower id.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "egc/data/dataset.h"

namespace egc::data {

constexpr int64_t kSuperpixelNeighbours = 8;

// Appends for every node an edge (node, neighbour) to its 8 nearest, nearest first. d: distance of
// centroids; s_i = (sum of the 9 smallest d_ij, i itself included) / 8 + 1e-8;
// A_ij = exp(-(d_ij / s_i)^2), made symmetric by the mean; the largest A_ij win.
// coordinates: row and column of each node. A graph of n <= 8 nodes has n - 1 neighbours a node.
void append_superpixel_edges(std::span<const float> coordinates, std::vector<int32_t>& edges);

// raw/node-feat.u8.gz: five bytes a node, red, green, blue (times 255), row and column of the
// centroid (times 8, of an image of 32 x 32). Gives five floats a node as the published sets have
// them: colours in [0, 1], coordinates as a fraction of the image.
Matrix<float> read_superpixel_bytes(const std::filesystem::path& path, int64_t nodes);

// The edges of all graphs, from columns 3 and 4 of the features. Fills edges and first_edge.
void derive_superpixel_edges(Dataset& dataset);

}  // namespace egc::data
