// Images as graphs of superpixels, like the published CIFAR-10 dataset: SLIC segments, mean colour
// and centroid as features, edges to the 8 nearest. Needs OpenCV; without it, functions throw
// kUsage.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "egc/core/progress.h"
#include "egc/data/build/dataset_builder.h"
#include "egc/data/dataset.h"

namespace egc::images {

// Options of build_images().
struct ImageOptions {
  // CIFAR-10's binary batches, a folder with a folder of images per class, or train/ and test/ with
  // such folders.
  std::filesystem::path from;
  int64_t superpixels = 150;  // maximum per image
  // Of the sets, if there are no train/ and test/.
  std::array<double, 3> fractions = {0.8, 0.1, 0.1};
  // Images of the training set that become the validation set; -1: a tenth (CIFAR-10: 5,000, as
  // published).
  int64_t valid = -1;
  uint64_t seed = 0;            // of the split
  std::string name;             // of the dataset
  OnProgress on_progress = {};  // images made
};

data::Dataset build_images(const ImageOptions& options);  // a graph per image

bool have_opencv();  // whether this build has OpenCV

// The graph of one image. rgb: [height, width, 3]. Node features [N, 5]: mean colour in [0, 1],
// then row and column of the centroid divided by the longer side.
data::GraphRecord superpixel_graph(std::span<const uint8_t> rgb, int height, int width,
                                   int64_t max_superpixels);

// An image in memory.
struct Image {
  std::vector<uint8_t> rgb;  // [height, width, 3]
  int height = 0;            // pixels
  int width = 0;             // pixels
};
// Reads png, jpeg and other formats of OpenCV. Throws kData.
Image read_image(const std::filesystem::path& path);

}  // namespace egc::images
