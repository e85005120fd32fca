// The shipped configurations give the parameter counts of the authors' released models.
#include <gtest/gtest.h>

#include <filesystem>

#include "egc/models/network.h"
#include "egc/train/run_config.h"

namespace egc {
namespace {

struct Released {
  const char* config;
  int64_t parameters;
};
// From the authors' release.
constexpr Released kReleased[] = {
    {"zinc/gatv2", 98957},        {"zinc/egc-s", 102861},       {"zinc/egc-m", 100385},
    {"cifar10/gatv2", 96912},     {"cifar10/egc-s", 99552},     {"cifar10/egc-m", 103466},
    {"molhiv/gcn", 311401},       {"molhiv/gat", 313321},       {"molhiv/gatv2", 328717},
    {"molhiv/gin", 311405},       {"molhiv/sage", 313201},      {"molhiv/mpnn-max", 314641},
    {"molhiv/mpnn-sum", 314641},  {"molhiv/egc-s", 323509},     {"molhiv/egc-m", 317265},
    {"arxiv/gcn", 100816},        {"arxiv/gat", 97320},         {"arxiv/gatv2", 96248},
    {"arxiv/gin", 100819},        {"arxiv/sage", 99860},        {"arxiv/mpnn-max", 102120},
    {"arxiv/mpnn-sum", 102120},   {"arxiv/pna", 96332},         {"arxiv/egc-s", 101336},
    {"arxiv/egc-m", 99464},       {"code2/gcn", 11086658},      {"code2/gat", 11089090},
    {"code2/gatv2", 11140106},    {"code2/gin", 11086662},      {"code2/sage", 11016905},
    {"code2/mpnn-max", 10979390}, {"code2/mpnn-sum", 10979390}, {"code2/pna", 10999394},
    {"code2/egc-s", 11164738},    {"code2/egc-m", 10994102},
};

TEST(Configs, ParameterCounts) {
  for (const Released& r : kReleased) {
    const auto config =
        train::read_model_config(std::string(EGC_SOURCE_DIR) + "/configs/" + r.config + ".json");
    EXPECT_EQ(models::make_network(config)->num_parameters(), r.parameters) << r.config;
  }
}

TEST(Configs, AllOfThemParseAndComeBackTheSame) {
  int count = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(std::string(EGC_SOURCE_DIR) + "/configs")) {
    if (entry.path().extension() != ".json") continue;
    const auto config = train::read_model_config(entry.path().string());
    EXPECT_EQ(models::parse_model_config(models::to_json(config), "again"), config) << entry.path();
    ++count;
  }
  EXPECT_GE(count, 38);
}

}  // namespace
}  // namespace egc
