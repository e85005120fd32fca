// Images as graphs of superpixels, made as the published CIFAR-10 set was: SLIC segments, their
// mean colour and centroid as features, edges to the 8 nearest (data/superpixels.h). By OpenCV;
// without it (a build on a machine that has none) the functions say so.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "egc/data/build/dataset_builder.h"
#include "egc/data/dataset.h"

namespace egc::images {

struct ImageOptions {
  // CIFAR-10's binary batches, or a folder with a folder of images for each class, or train/ and
  // test/ with such folders.
  std::filesystem::path from;
  int64_t superpixels = 150;                          // at most, per image
  std::array<double, 3> fractions = {0.8, 0.1, 0.1};  // without train/ and test/
  int64_t valid = -1;  // images cut from train; -1: a tenth (CIFAR-10: 5,000, as published)
  uint64_t seed = 0;
  std::string name;
};

data::Dataset build_images(const ImageOptions& options);

bool have_opencv();

// One image: rows of red, green, blue bytes. Features [N, 5]: mean colour in [0, 1], centroid row
// and column over the longer side.
data::GraphRecord superpixel_graph(std::span<const uint8_t> rgb, int height, int width,
                                   int64_t max_superpixels);

struct Image {
  std::vector<uint8_t> rgb;
  int height = 0;
  int width = 0;
};
// png, jpeg and what else OpenCV reads. Throws kData.
Image read_image(const std::filesystem::path& path);

}  // namespace egc::images
