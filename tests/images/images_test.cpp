// Images: superpixels of a picture whose parts are known, CIFAR-10's binary batches, folders.
#include "egc/images/build_images.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "tests/core/expect_error.h"
#include "tests/data/dataset_files.h"

namespace egc::images {
namespace {

using data::Dataset;
using data::GraphRecord;
using testing::DatasetFiles;
using testing::difference;
using testing::expect_error;

#define EGC_NEED_OPENCV() \
  if (!have_opencv()) GTEST_SKIP() << "built without OpenCV"

// Red, green, blue and white quadrants: above left, above right, below left, below right.
constexpr uint8_t kColours[4][3] = {{255, 0, 0}, {0, 255, 0}, {0, 0, 255}, {255, 255, 255}};

std::vector<uint8_t> quadrants(int height, int width) {
  std::vector<uint8_t> out;
  for (int r = 0; r < height; ++r)
    for (int c = 0; c < width; ++c) {
      const auto& colour = kColours[(r >= height / 2 ? 2 : 0) + (c >= width / 2 ? 1 : 0)];
      out.insert(out.end(), colour, colour + 3);
    }
  return out;
}

void expect_well_formed(const GraphRecord& g, int64_t most) {
  ASSERT_GE(g.num_nodes, 1);
  ASSERT_LE(g.num_nodes, most);
  ASSERT_EQ(g.node_floats.size(), static_cast<size_t>(5 * g.num_nodes));
  for (const float v : g.node_floats) {
    EXPECT_GE(v, 0);
    EXPECT_LE(v, 1);
  }
  const int64_t each = std::min<int64_t>(8, g.num_nodes - 1);
  ASSERT_EQ(g.edges.size(), static_cast<size_t>(2 * each * g.num_nodes));
  std::set<std::pair<int32_t, int32_t>> seen;
  for (size_t e = 0; e < g.edges.size() / 2; ++e) {
    EXPECT_EQ(g.edges[2 * e], static_cast<int32_t>(e / static_cast<size_t>(each)));
    EXPECT_NE(g.edges[2 * e], g.edges[2 * e + 1]);
    EXPECT_LT(g.edges[2 * e + 1], g.num_nodes);
    EXPECT_TRUE(seen.insert({g.edges[2 * e], g.edges[2 * e + 1]}).second);
  }
}

TEST(Superpixels, AtMostAsManyAsAllowed) {
  EGC_NEED_OPENCV();
  for (const int side : {8, 32, 50})
    for (const int64_t most : {1, 2, 4, 9, 50, 150, 100000}) {
      SCOPED_TRACE(fmt::format("{} x {}, at most {}", side, side, most));
      expect_well_formed(superpixel_graph(quadrants(side, side), side, side, most), most);
    }
  expect_well_formed(superpixel_graph(quadrants(20, 60), 20, 60, 100), 100);
}

TEST(Superpixels, SmallImagesHaveSomeToo) {
  EGC_NEED_OPENCV();
  for (const auto& [h, w] : {std::pair{1, 1}, {1, 2}, {2, 2}, {3, 5}, {4, 4}, {1, 40}, {40, 1}}) {
    SCOPED_TRACE(fmt::format("{} x {}", h, w));
    try {
      expect_well_formed(superpixel_graph(quadrants(h, w), h, w, 150), 150);
    } catch (const std::exception& e) {
      ADD_FAILURE() << e.what();
    }
  }
}

// Superpixels wider than the image is high. In a process of its own: SLIC itself may crash.
TEST(Superpixels, NarrowImagesDoNotCrash) {
  EGC_NEED_OPENCV();
  for (const auto& [h, w, most] : {std::tuple{5, 100, 3}, {100, 5, 3}, {1, 1000, 5}, {1, 3, 1}}) {
    const auto run = [&] {
      try {
        const GraphRecord g = superpixel_graph(quadrants(h, w), h, w, most);
        std::_Exit(g.num_nodes >= 1 && g.num_nodes <= most ? 0 : 1);
      } catch (const Error&) {
        std::_Exit(0);
      }
    };
    EXPECT_EXIT(run(), ::testing::ExitedWithCode(0), "") << h << " x " << w;
  }
}

// A superpixel of one colour lies in the quadrant of that colour.
TEST(Superpixels, CentroidsLieWhereTheirColourIs) {
  EGC_NEED_OPENCV();
  for (const auto& [h, w] : {std::pair{32, 32}, {32, 64}}) {
    const GraphRecord g = superpixel_graph(quadrants(h, w), h, w, 100);
    const double side = std::max(h, w);
    int pure[4] = {};
    double colour[3] = {};
    for (int64_t i = 0; i < g.num_nodes; ++i) {
      const float* x = g.node_floats.data() + 5 * i;
      for (int k = 0; k < 3; ++k) colour[k] += x[k];
      for (int q = 0; q < 4; ++q) {
        bool is_it = true;
        for (int k = 0; k < 3; ++k)
          is_it &= std::abs(x[k] - static_cast<float>(kColours[q][k]) / 255) < 1e-6F;
        if (!is_it) continue;
        ++pure[q];
        EXPECT_EQ(x[3] * side >= h / 2.0 - 0.5, q >= 2) << "node " << i;
        EXPECT_EQ(x[4] * side >= w / 2.0 - 0.5, q % 2 == 1) << "node " << i;
      }
    }
    for (const int count : pure) EXPECT_GE(count, 4);
    EXPECT_GE(pure[0] + pure[1] + pure[2] + pure[3], g.num_nodes * 3 / 4);
    for (const double sum : colour)  // each colour fills half the picture
      EXPECT_NEAR(sum / static_cast<double>(g.num_nodes), 0.5, 0.1);
  }
}

TEST(Superpixels, OneSuperpixelIsTheMeanOfAll) {
  EGC_NEED_OPENCV();
  const GraphRecord g = superpixel_graph(quadrants(32, 32), 32, 32, 1);
  ASSERT_EQ(g.num_nodes, 1);
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(g.node_floats[k], 0.5, 1e-6);
  EXPECT_NEAR(g.node_floats[3], 15.5 / 32, 1e-6);
  EXPECT_NEAR(g.node_floats[4], 15.5 / 32, 1e-6);
  EXPECT_TRUE(g.edges.empty());
}

TEST(Superpixels, WrongCallsAreRefused) {
  EGC_NEED_OPENCV();
  const auto image = quadrants(8, 8);
  expect_error(ErrorKind::kUsage, {"at least 1"}, [&] { superpixel_graph(image, 8, 8, 0); });
  expect_error(ErrorKind::kUsage, {"192"}, [&] { superpixel_graph(image, 8, 9, 10); });
  expect_error(ErrorKind::kUsage, {}, [&] { superpixel_graph({}, 0, 0, 10); });
  expect_error(ErrorKind::kUsage, {}, [&] { superpixel_graph(image, -8, -8, 10); });
}

// A record of CIFAR-10: the class, then planes of red, green and blue.
std::string cifar_record(int label) {
  const auto rgb = quadrants(32, 32);
  std::string out(1, static_cast<char>(label));
  for (int k = 0; k < 3; ++k)
    for (size_t p = 0; p < 1024; ++p) out += static_cast<char>(rgb[3 * p + k]);
  return out;
}

// PPM, which OpenCV reads without any library.
std::string ppm(int height, int width) {
  const auto rgb = quadrants(height, width);
  return fmt::format("P6\n{} {}\n255\n", width, height) + std::string(rgb.begin(), rgb.end());
}

class BuildImages : public ::testing::Test {
 protected:
  ImageOptions options() const {
    ImageOptions o;
    o.from = files_.dir();
    o.superpixels = 60;
    o.name = "mine";
    return o;
  }
  DatasetFiles files_;
};

TEST_F(BuildImages, CifarBatches) {
  EGC_NEED_OPENCV();
  files_.write("data_batch_1.bin", cifar_record(3) + cifar_record(9) + cifar_record(0));
  files_.write("data_batch_3.bin", cifar_record(7) + cifar_record(1));
  files_.write("test_batch.bin", cifar_record(5) + cifar_record(2));
  auto o = options();
  o.valid = 1;
  const Dataset d = build_images(o);
  EXPECT_EQ(testing::to_vector(d.labels.classes), (std::vector<int32_t>{3, 9, 0, 7, 1, 5, 2}));
  EXPECT_EQ(d.info.num_classes, 10);
  EXPECT_EQ(d.info.task, Task::kGraphClassification);
  EXPECT_EQ(d.splits.at(0).train.size(), 4);
  EXPECT_EQ(d.splits[0].valid.size(), 1);
  EXPECT_EQ(testing::to_vector(d.splits[0].test), (std::vector<int64_t>{5, 6}));
  const GraphRecord want = superpixel_graph(quadrants(32, 32), 32, 32, 60);
  for (int64_t k = 0; k < 7; ++k) {
    ASSERT_EQ(d.sample(k).num_nodes, want.num_nodes);
    EXPECT_TRUE(std::equal(want.edges.begin(), want.edges.end(), d.sample(k).edges.begin()));
    EXPECT_TRUE(std::equal(want.node_floats.begin(), want.node_floats.end(),
                           d.node_features.floats.row(d.sample(k).first_node).begin()));
  }
  EXPECT_EQ(difference(d, build_images(o)), "");
}

TEST_F(BuildImages, FoldersOfClasses) {
  EGC_NEED_OPENCV();
  for (int k = 0; k < 5; ++k) {
    files_.write(fmt::format("dog/{}.ppm", k), ppm(16, 16));
    files_.write(fmt::format("cat/{}.ppm", k), ppm(16, 24));
  }
  auto o = options();
  o.fractions = {0.6, 0.2, 0.2};
  const Dataset d = build_images(o);
  EXPECT_EQ(d.num_graphs(), 10);
  EXPECT_EQ(d.info.num_classes, 2);
  EXPECT_EQ(testing::to_vector(d.labels.classes),
            (std::vector<int32_t>{0, 0, 0, 0, 0, 1, 1, 1, 1, 1}));  // cat before dog
  EXPECT_EQ(d.splits.at(0).train.size(), 6);
}

TEST_F(BuildImages, FoldersOfTrainAndTest) {
  EGC_NEED_OPENCV();
  for (int k = 0; k < 5; ++k) {
    files_.write(fmt::format("train/dog/{}.ppm", k), ppm(16, 16));
    files_.write(fmt::format("train/cat/{}.ppm", k), ppm(16, 16));
  }
  files_.write("test/dog/0.ppm", ppm(16, 16));
  const Dataset d = build_images(options());
  EXPECT_EQ(d.num_graphs(), 11);
  EXPECT_EQ(d.labels.classes[10], 1);
  EXPECT_EQ(d.splits.at(0).train.size(), 9);
  EXPECT_EQ(d.splits[0].valid.size(), 1);
  EXPECT_EQ(testing::to_vector(d.splits[0].test), std::vector<int64_t>{10});
}

TEST_F(BuildImages, WrongInputIsRefused) {
  EGC_NEED_OPENCV();
  expect_error(ErrorKind::kData, {"data_batch_1.bin"}, [&] { build_images(options()); });
  auto o = options();
  o.from = files_.path("none");
  expect_error(ErrorKind::kData, {"none"}, [&] { build_images(o); });
  files_.write("data_batch_1.bin", cifar_record(1).substr(1));
  expect_error(ErrorKind::kData, {"data_batch_1.bin", "3073"}, [&] { build_images(options()); });
  files_.write("data_batch_1.bin", "");
  expect_error(ErrorKind::kData, {"data_batch_1.bin"}, [&] { build_images(options()); });
  files_.write("data_batch_1.bin", cifar_record(1) + cifar_record(10));
  expect_error(ErrorKind::kData, {"record 1", "got 10"}, [&] { build_images(options()); });
  files_.remove("data_batch_1.bin");
  for (int k = 0; k < 5; ++k) files_.write(fmt::format("a/{}.ppm", k), ppm(8, 8));
  for (int k = 0; k < 5; ++k) files_.write(fmt::format("b/{}.ppm", k), ppm(8, 8));
  build_images(options());
  for (const std::string& bytes :
       {std::string("text"), std::string(), ppm(8, 8).substr(0, 8),
        std::string("\x89PNG\r\n\x1a\n"), std::string("P6\n1000000 1000000\n255\n")}) {
    files_.write("b/odd.ppm", bytes);
    expect_error(ErrorKind::kData, {"odd.ppm"}, [&] { build_images(options()); });
  }
}

}  // namespace
}  // namespace egc::images
