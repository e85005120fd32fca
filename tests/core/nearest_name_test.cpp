// Guesses for misspelt names: near ones only, and the nearest of them.
#include "egc/core/nearest_name.h"

#include <gtest/gtest.h>

namespace egc {
namespace {

const std::vector<std::string_view> kModels = {"gcn",   "gin",   "gat",     "gatv2",
                                               "egc-s", "egc-m", "mpnn-sum"};

TEST(NearestName, OneEditIsFound) {
  EXPECT_EQ(nearest_name("egcs", kModels), "egc-s");    // a letter is missing
  EXPECT_EQ(nearest_name("egc--m", kModels), "egc-m");  // one too many
  EXPECT_EQ(nearest_name("gatv3", kModels), "gatv2");   // another one
  EXPECT_EQ(nearest_name("gnc", kModels), "gcn");       // two swapped
  EXPECT_EQ(nearest_name("npmn-sum", kModels), "mpnn-sum");
}

TEST(NearestName, CaseDoesNotCount) {
  EXPECT_EQ(nearest_name("EGC-M", kModels), "egc-m");
  EXPECT_EQ(nearest_name("MPNN-SUN", kModels), "mpnn-sum");
}

TEST(NearestName, TheNearestWinsAndTheFirstOfEquals) {
  EXPECT_EQ(nearest_name("gatv", kModels), "gat");
  EXPECT_EQ(nearest_name("gatv22", kModels), "gatv2");
  EXPECT_EQ(nearest_name("egc-x", kModels), "egc-s");
}

TEST(NearestName, FarNamesAreNoGuess) {
  for (const std::string_view name : {"", "x", "transformer", "mpnn", "abc"})
    EXPECT_EQ(nearest_name(name, kModels), "") << name;
  EXPECT_EQ(nearest_name("gcn", {}), "");
  EXPECT_EQ(nearest_name(std::string(100000, 'g'), kModels), "");
}

TEST(NearestName, OneLetterNamesAreNotGuessed) { EXPECT_EQ(nearest_name("a", {"b", "c"}), ""); }

TEST(NearestName, IsSpelledBeforeTheKnown) {
  EXPECT_EQ(did_you_mean("hiden", {"hidden", "layers"}), "; did you mean \"hidden\"?");
  EXPECT_EQ(did_you_mean("nonsense", {"hidden", "layers"}), "");
  EXPECT_EQ(spell_known("hiden", {"hidden", "layers"}),
            "; did you mean \"hidden\"? known: hidden, layers");
  EXPECT_EQ(spell_known("nonsense", {"hidden", "layers"}), "; known: hidden, layers");
}

}  // namespace
}  // namespace egc
