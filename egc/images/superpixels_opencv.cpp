#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <opencv2/ximgproc/slic.hpp>

#include <algorithm>
#include <cmath>

#include "egc/core/error.h"
#include "egc/data/build/superpixels.h"
#include "egc/images/build_images.h"

namespace egc::images {
namespace {

constexpr int kMinSide = 8;  // OpenCV's SLIC fails on images that have hardly room for its grid

// Squares of equal size, for what is too small for SLIC.
cv::Mat grid(int height, int width, int64_t most, int& count) {
  for (int size = 1;; ++size) {
    const int rows = (height + size - 1) / size;
    const int columns = (width + size - 1) / size;
    count = rows * columns;
    if (count > most) continue;
    cv::Mat labels(height, width, CV_32S);
    for (int r = 0; r < height; ++r)
      for (int c = 0; c < width; ++c) labels.at<int32_t>(r, c) = r / size * columns + c / size;
    return labels;
  }
}

// Labels of at most `most` segments: the finest grid of OpenCV's SLIC that gives no more.
cv::Mat segment(const cv::Mat& rgb, int64_t most, int& count) {
  constexpr int kIterations = 10;
  constexpr float kCompactness = 10;
  constexpr int kAbsorbed = 25;  // percent of a mean segment: smaller ones join a neighbour
  const int side = std::min(rgb.rows, rgb.cols);
  cv::Mat lab;
  cv::cvtColor(rgb, lab, cv::COLOR_RGB2Lab);
  const double pixels = static_cast<double>(rgb.rows) * rgb.cols;
  const auto first = std::max(1, static_cast<int>(std::sqrt(pixels / static_cast<double>(most))));
  for (int size = first; side >= kMinSide && size <= side / 2; ++size) {
    const auto slic =
        cv::ximgproc::createSuperpixelSLIC(lab, cv::ximgproc::SLIC, size, kCompactness);
    slic->iterate(kIterations);
    slic->enforceLabelConnectivity(kAbsorbed);
    count = slic->getNumberOfSuperpixels();
    if (count < 1 || count > most) continue;
    cv::Mat labels;
    slic->getLabels(labels);
    return labels;
  }
  return grid(rgb.rows, rgb.cols, most, count);
}

}  // namespace

bool have_opencv() { return true; }

data::GraphRecord superpixel_graph(std::span<const uint8_t> rgb, int height, int width,
                                   int64_t max_superpixels) {
  check(max_superpixels >= 1, "superpixels: at least 1 must be allowed, got {}", max_superpixels);
  check(height > 0 && width > 0 && rgb.size() == static_cast<size_t>(height) * width * 3,
        "superpixels: an image of {} x {} has {} bytes, got {}", height, width,
        static_cast<int64_t>(height) * width * 3, rgb.size());
  const cv::Mat image(height, width, CV_8UC3, const_cast<uint8_t*>(rgb.data()));
  int count = 0;
  cv::Mat labels;
  try {
    labels = segment(image, max_superpixels, count);
  } catch (const cv::Exception&) {
    fail(ErrorKind::kData, "OpenCV cannot segment an image of {} x {}", height, width);
  }
  struct Sum {
    double colour[3] = {};
    double row = 0;
    double column = 0;
    double pixels = 0;
  };
  std::vector<Sum> sums(static_cast<size_t>(count));
  for (int r = 0; r < height; ++r)
    for (int c = 0; c < width; ++c) {
      Sum& s = sums.at(static_cast<size_t>(labels.at<int32_t>(r, c)));
      for (int k = 0; k < 3; ++k) s.colour[k] += image.at<cv::Vec3b>(r, c)[k];
      s.row += r;
      s.column += c;
      ++s.pixels;
    }
  data::GraphRecord g;
  std::vector<float> coordinates;
  const double side = std::max(height, width);
  for (const Sum& s : sums) {
    if (s.pixels == 0) continue;  // a label without pixels is no node
    const auto row = static_cast<float>(s.row / s.pixels / side);
    const auto column = static_cast<float>(s.column / s.pixels / side);
    for (const double colour : s.colour)
      g.node_floats.push_back(static_cast<float>(colour / s.pixels / 255));
    g.node_floats.insert(g.node_floats.end(), {row, column});
    coordinates.insert(coordinates.end(), {row, column});
    ++g.num_nodes;
  }
  data::append_superpixel_edges(coordinates, g.edges);
  return g;
}

Image read_image(const std::filesystem::path& path) {
  cv::Mat bgr;
  try {
    bgr = cv::imread(path.string(), cv::IMREAD_COLOR);
  } catch (const cv::Exception&) {
    bgr.release();
  }
  check_data(!bgr.empty(), "{}: not a readable image", path.string());
  cv::Mat rgb;
  cv::cvtColor(bgr, rgb, cv::COLOR_BGR2RGB);
  return {{rgb.data, rgb.data + rgb.total() * 3}, rgb.rows, rgb.cols};
}

}  // namespace egc::images
