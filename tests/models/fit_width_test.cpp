// Widths for a number of parameters.
#include "egc/models/fit_width.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "egc/models/network.h"
#include "egc/nn/conv_table.h"
#include "tests/core/expect_error.h"

namespace egc {
namespace {

using models::ModelConfig;
using testing::expect_error;

ModelConfig zinc(const std::string& model) {
  ModelConfig c;
  c.model = model;
  c.encoder = models::Encoder::kEmbedding;
  c.categories = {28};
  return c;
}

int64_t count(ModelConfig c, int64_t width) {
  c.hidden = width;
  return models::make_network(c)->num_parameters();
}

TEST(FitWidth, IsTheNearestOfTheAllowedWidthsForEveryModel) {
  for (const std::string_view name : nn::conv_names()) {
    const ModelConfig c = zinc(std::string(name));
    const int64_t width = models::fit_width(c, 100'000);
    const int64_t miss = std::abs(count(c, width) - 100'000);
    EXPECT_LT(miss, 8'000) << name;
    for (int64_t other = width - 40; other <= width + 40; ++other) {
      try {
        EXPECT_GE(std::abs(count(c, other) - 100'000), miss) << name << " " << other;
      } catch (const Error&) {  // a width that the layer has not
      }
    }
  }
}

TEST(FitWidth, CountsWhatBlocksHaveBesideALayer) {
  ModelConfig c = zinc("egc-s");
  const int64_t plain = models::fit_width(c, 100'000);
  c.feed_forward = 2;
  EXPECT_LT(models::fit_width(c, 100'000), plain - 30);
  EXPECT_EQ(models::fit_width(c, count(c, 96)), 96);
  c.head_layers = 6;
  EXPECT_EQ(models::fit_width(c, count(c, 96)), 96);
  c.virtual_node = true;
  EXPECT_EQ(models::fit_width(c, count(c, 96)), 96);
  c.norm = models::Norm::kLayer;
  EXPECT_EQ(models::fit_width(c, count(c, 96)), 96);
}

// A head of six layers needs a width of 32, and takes every one above.
TEST(FitWidth, ALongHeadLeavesNoWidthOut) {
  ModelConfig c = zinc("gcn");
  c.head_layers = 6;
  for (const int64_t width : {33, 97}) EXPECT_EQ(models::fit_width(c, count(c, width)), width);
}

TEST(FitWidth, FindsThePapersWidths) {
  // results of the paper's own sizing, from the released models' parameter counts
  EXPECT_EQ(models::fit_width(zinc("egc-s"), 102'861), 168);
  ModelConfig m = zinc("egc-m");
  if (nn::layer_descriptor(m.model).takes("heads")) m.heads = 4;
  m.bases = 4;
  EXPECT_EQ(models::fit_width(m, 100'385), 124);
}

TEST(FitWidth, WithoutAnEncoderTheOutputsAreTheLeastWidth) {
  ModelConfig c;  // of MAG's papers
  c.task = Task::kNodeClassification;
  c.model = "egc-s";
  c.layers = 2;
  c.outputs = 349;
  c.features = 128;
  c.encoder = models::Encoder::kNone;
  c.residual = false;
  EXPECT_EQ(models::fit_width(c, count(c, 352)), 352);
  EXPECT_EQ(models::fit_width(c, count(c, 360) + 1), 360);
}

TEST(FitWidth, SaysWhereThereIsNone) {
  ModelConfig unused = zinc("gcn");  // one layer without an encoder has no hidden width
  unused.task = Task::kNodeClassificationHetero;
  unused.model = "rgcn";
  unused.layers = 1;
  unused.outputs = 3;
  unused.categories.clear();
  unused.features = 5;
  unused.encoder = models::Encoder::kNone;
  unused.schema = HeteroSchema::homogeneous();
  unused.target_type = unused.schema.node_types[0];
  unused.embedded_nodes = {0};
  expect_error(ErrorKind::kUsage, {"cannot be reached"},
               [&] { models::fit_width(unused, 100'000); });
  expect_error(ErrorKind::kUsage, {"smallest network", "--parameters 10"},
               [] { models::fit_width(zinc("pna"), 10); });
  expect_error(ErrorKind::kUsage, {"from 1 to"}, [] { models::fit_width(zinc("gcn"), 0); });
}

}  // namespace
}  // namespace egc
