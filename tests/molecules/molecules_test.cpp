// Molecules: features as the Open Graph Benchmark and ZINC define them, targets as Python's RDKit
// computes them, bad lines named. With $EGC_DATA also every molecule of the published sets.
#include "egc/molecules/molecule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>

#include "egc/core/parallel.h"
#include "egc/data/formats/text_table.h"
#include "egc/data/raw/read_dataset.h"
#include "egc/molecules/build_molecules.h"
#include "egc/molecules/molecule_stream.h"
#include "tests/core/expect_error.h"
#include "tests/data/dataset_files.h"

namespace egc::molecules {
namespace {

namespace fs = std::filesystem;
using data::Dataset;
using testing::DatasetFiles;
using testing::difference;
using testing::expect_error;
using testing::to_vector;
using Ints = std::vector<int32_t>;

#define EGC_NEED_RDKIT() \
  if (!have_rdkit()) GTEST_SKIP() << "built without RDKit"

struct Want {
  const char* smiles;
  Ints edges;
  Ints atoms;  // nine each
  Ints bonds;  // three each
};

// What Python's RDKit 2022.09.3 says of each atom, put into OGB's tables by hand: number - 1,
// chirality, degree, charge + 5, hydrogens, radicals, hybridisation (sp 0, sp2 1, sp3 2, sp3d2 4,
// other 5), aromatic, ring; bond, stereo, conjugated.
const Want kOgb[] = {
    {"CCO",
     {0, 1, 1, 2},
     {5, 0, 4, 5, 3, 0, 2, 0, 0, 5, 0, 4, 5, 2, 0, 2, 0, 0, 7, 0, 2, 5, 1, 0, 2, 0, 0},
     {0, 0, 0, 0, 0, 0}},
    {"c1cc[nH]c1",
     {0, 1, 1, 2, 2, 3, 3, 4, 4, 0},
     {5, 0, 3, 5, 1, 0, 1, 1, 1, 5, 0, 3, 5, 1, 0, 1, 1, 1, 5, 0, 3, 5, 1,
      0, 1, 1, 1, 6, 0, 3, 5, 1, 0, 1, 1, 1, 5, 0, 3, 5, 1, 0, 1, 1, 1},
     {3, 0, 1, 3, 0, 1, 3, 0, 1, 3, 0, 1, 3, 0, 1}},
    {"C[C@H](N)C(=O)[O-]",
     {0, 1, 1, 2, 1, 3, 3, 4, 3, 5},
     {5, 0, 4, 5, 3, 0, 2, 0, 0, 5, 2, 4, 5, 1, 0, 2, 0, 0, 6, 0, 3, 5, 2, 0, 2, 0, 0,
      5, 0, 3, 5, 0, 0, 1, 0, 0, 7, 0, 1, 5, 0, 0, 1, 0, 0, 7, 0, 1, 4, 0, 0, 1, 0, 0},
     {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 1}},
    {"[CH3]", {}, {5, 0, 3, 5, 3, 1, 2, 0, 0}, {}},
    {"[Na+].[Cl-]", {}, {10, 0, 0, 6, 0, 0, 5, 0, 0, 16, 0, 0, 4, 0, 0, 2, 0, 0}, {}},
    {"C#N", {0, 1}, {5, 0, 2, 5, 1, 0, 0, 0, 0, 6, 0, 1, 5, 0, 0, 0, 0, 0}, {2, 0, 0}},
    {"F/C=C/F",
     {0, 1, 1, 2, 2, 3},
     {8, 0, 1, 5, 0, 0, 2, 0, 0, 5, 0, 3, 5, 1, 0, 1, 0, 0,
      5, 0, 3, 5, 1, 0, 1, 0, 0, 8, 0, 1, 5, 0, 0, 2, 0, 0},
     {0, 0, 0, 1, 2, 0, 0, 0, 0}},
    {"F/C=C\\F",
     {0, 1, 1, 2, 2, 3},
     {8, 0, 1, 5, 0, 0, 2, 0, 0, 5, 0, 3, 5, 1, 0, 1, 0, 0,
      5, 0, 3, 5, 1, 0, 1, 0, 0, 8, 0, 1, 5, 0, 0, 2, 0, 0},
     {0, 0, 0, 1, 1, 0, 0, 0, 0}},
};

TEST(Molecules, OgbFeaturesByHand) {
  EGC_NEED_RDKIT();
  for (const Want& want : kOgb) {
    const auto g = smiles_to_graph(want.smiles, Recipe::kOgb);
    EXPECT_EQ(g.num_nodes, static_cast<int64_t>(want.atoms.size() / 9)) << want.smiles;
    EXPECT_EQ(g.edges, want.edges) << want.smiles;
    EXPECT_EQ(g.node_categories, want.atoms) << want.smiles;
    EXPECT_EQ(g.edge_categories, want.bonds) << want.smiles;
  }
  // The other hand, and six bonds of sulphur.
  EXPECT_EQ(smiles_to_graph("C[C@@H](N)C(=O)[O-]", Recipe::kOgb).node_categories[9 + 1], 1);
  const auto sulphur = smiles_to_graph("FS(F)(F)(F)(F)F", Recipe::kOgb).node_categories;
  EXPECT_EQ(Ints(sulphur.begin() + 9, sulphur.begin() + 18), (Ints{15, 0, 6, 5, 0, 0, 4, 0, 0}));
}

TEST(Molecules, ZincKindsByHand) {
  EGC_NEED_RDKIT();
  const std::tuple<const char*, Ints, Ints> wanted[] = {
      {"CCO", {0, 0, 1}, {1, 1}},
      {"c1cc[nH]c1", {0, 0, 0, 2, 0}, {2, 1, 1, 1, 2}},  // Kekule's; the hydrogen does not count
      {"C[C@H](N)C(=O)[O-]", {0, 4, 2, 0, 1, 7}, {1, 1, 1, 2, 1}},
      {"C#N", {0, 2}, {3}},
      {"C[NH+](C)C", {0, 8, 0, 0}, {1, 1, 1}},
      {"C[N+](C)(C)C", {0, 12, 0, 0, 0}, {1, 1, 1, 1}},
      {"FC(Cl)(Br)I", {3, 0, 6, 9, 15}, {1, 1, 1, 1}},
      {"CS", {0, 5}, {1}},
  };
  for (const auto& [smiles, atoms, bonds] : wanted) {
    const auto g = smiles_to_graph(smiles, Recipe::kZinc);
    EXPECT_EQ(g.node_categories, atoms) << smiles;
    Ints sorted_got = g.edge_categories;
    Ints sorted_want = bonds;
    std::sort(sorted_got.begin(), sorted_got.end());  // which Kekule form is RDKit's choice
    std::sort(sorted_want.begin(), sorted_want.end());
    EXPECT_EQ(sorted_got, sorted_want) << smiles;
  }
  const auto benzene = smiles_to_graph("c1ccccc1", Recipe::kZinc);
  EXPECT_EQ(std::count(benzene.edge_categories.begin(), benzene.edge_categories.end(), 2), 3);
  for (const char* smiles : {"[Na+].[Cl-]", "C[Si](C)(C)C", "B", "[2H]C"})
    expect_error(ErrorKind::kData, {"28 types"}, [&] { smiles_to_graph(smiles, Recipe::kZinc); });
}

TEST(Molecules, CategoriesCoverTheFeatures) {
  EGC_NEED_RDKIT();
  for (const Recipe recipe : {Recipe::kOgb, Recipe::kZinc})
    for (const char* smiles : {"CCO", "c1cc[nH]c1", "C[C@H](N)C(=O)[O-]", "F/C=C/F"}) {
      const auto g = smiles_to_graph(smiles, recipe);
      const auto below = [](const Ints& values, const std::vector<int64_t>& most) {
        for (size_t k = 0; k < values.size(); ++k)
          if (values[k] < 0 || values[k] >= most[k % most.size()]) return false;
        return true;
      };
      EXPECT_TRUE(below(g.node_categories, atom_categories(recipe))) << smiles;
      EXPECT_TRUE(below(g.edge_categories, bond_categories(recipe))) << smiles;
    }
}

// Crippen.MolLogP and sascorer.calculateScore of RDKit's Contrib, RDKit 2022.09.3 for Python.
struct Score {
  const char* smiles;
  double log_p;
  double accessibility;
  double cycle;
};
const Score kScores[] = {
    {"CCO", -0.001400000, 1.980257039, 0},
    {"c1ccccc1", 1.686600000, 1.000000000, 0},
    {"CC(=O)Oc1ccccc1C(=O)O", 1.310100000, 1.580039750, 0},
    {"CN1C=NC2=C1C(=O)N(C(=O)N2C)C", -1.029300000, 2.297982457, 0},
    {"C1CCCCCCC1", 3.120800000, 1.000000000, 2},
    {"C[C@H](N)C(=O)O", -0.581800000, 2.319602850, 0},
    {"C1CC2CCC1C2", 2.196500000, 2.992404664, 0},
    {"C1CCC2(CC1)CCCC2", 3.510900000, 2.529459773, 0},
    {"CC(C)Cc1ccc(cc1)C(C)C(=O)O", 3.073200000, 2.191755420, 0},
};

TEST(Molecules, ScoresArePythons) {
  EGC_NEED_RDKIT();
  for (const Score& want : kScores) {
    const ZincTarget got = zinc_target(want.smiles);
    EXPECT_NEAR(got.log_p, want.log_p, 1e-8) << want.smiles;
    EXPECT_NEAR(got.accessibility, want.accessibility, 1e-8) << want.smiles;
    EXPECT_EQ(got.cycle, want.cycle) << want.smiles;
    EXPECT_NEAR(got.target,
                (want.log_p - 2.4577998) / 1.4334181 + (3.05352 - want.accessibility) / 0.834605 +
                    (0.04829304 - want.cycle) / 0.2877576,
                1e-7)
        << want.smiles;
  }
}

TEST(Molecules, ScaffoldsAreMurckos) {
  EGC_NEED_RDKIT();
  const std::pair<const char*, const char*> wanted[] = {
      {"CCO", ""},
      {"c1ccccc1", "c1ccccc1"},
      {"CC(=O)Oc1ccccc1C(=O)O", "c1ccccc1"},
      {"C1CCCCC1CCc1ccncc1", "c1cc(CCC2CCCCC2)ccn1"},
      {"C[C@H]1CCCC[C@@H]1C", "C1CCCCC1"},
  };
  for (const auto& [smiles, want] : wanted) EXPECT_EQ(scaffold(smiles), want) << smiles;
}

TEST(Molecules, BadSmilesAreRefused) {
  EGC_NEED_RDKIT();
  for (const std::string& smiles :
       {std::string(), std::string("not a molecule"), std::string("C1CC"), std::string("CC("),
        std::string("C(C)(C)(C)(C)C"), std::string("c1cccc1"), std::string("[Xx]"),
        std::string("C%"), std::string("\xff\xfe"), std::string(5000, 'C'),
        std::string(1999, '(') + "C"}) {
    SCOPED_TRACE(smiles.substr(0, 20));
    expect_error(ErrorKind::kData, {}, [&] { smiles_to_graph(smiles, Recipe::kOgb); });
    expect_error(ErrorKind::kData, {}, [&] { scaffold(smiles); });
    expect_error(ErrorKind::kData, {}, [&] { zinc_target(smiles); });
  }
}

class BuildMolecules : public ::testing::Test {
 protected:
  MoleculeOptions options(const std::string& file) const {
    MoleculeOptions o;
    o.smiles = files_.path(file);
    o.labels = {"active"};
    o.name = "mine";
    o.split = MoleculeSplit::kRandom;
    return o;
  }
  // Ten molecules, of them two bad if asked for.
  void write_table(const char* third = "CCN", const char* sixth = "CCCl") const {
    files_.write("t.csv", fmt::format("name,SMILES,active\na,CCO,1\nb,CC,0\nc,{},1\nd,c1ccccc1,\n"
                                      "e,CCC,0\nf,{},1\ng,CO,0\nh,CN,1\ni,CF,0\nj,CCBr,1\n",
                                      third, sixth));
  }
  DatasetFiles files_;
  std::vector<BadSmiles> bad_;
};

TEST_F(BuildMolecules, TableBecomesADataset) {
  EGC_NEED_RDKIT();
  write_table();
  const Dataset d = build_molecules(options("t.csv"), bad_);
  EXPECT_TRUE(bad_.empty());
  EXPECT_EQ(d.num_graphs(), 10);
  EXPECT_EQ(d.info.task, Task::kGraphBinary);
  EXPECT_EQ(d.info.recipe, "ogb");
  EXPECT_EQ(d.info.categories, (std::vector<int64_t>{119, 5, 12, 12, 10, 6, 6, 2, 2}));
  EXPECT_TRUE(d.info.add_inverse_edge);
  EXPECT_TRUE(std::isnan(d.labels.values.at(3, 0)));
  EXPECT_EQ(d.labels.values.at(9, 0), 1);
  for (int64_t k = 0; k < 10; ++k) {
    const char* smiles[] = {"CCO",  "CC", "CCN", "c1ccccc1", "CCC",
                            "CCCl", "CO", "CN",  "CF",       "CCBr"};
    const auto g = smiles_to_graph(smiles[k], Recipe::kOgb);
    ASSERT_EQ(d.sample(k).num_nodes, g.num_nodes);
    EXPECT_EQ(Ints(d.sample(k).edges.begin(), d.sample(k).edges.end()), g.edges);
  }
  EXPECT_EQ(difference(d, build_molecules(options("t.csv"), bad_)), "");
}

TEST_F(BuildMolecules, BadLinesAreSkippedOrRefused) {
  EGC_NEED_RDKIT();
  write_table("C1CC", "nonsense");
  auto o = options("t.csv");
  expect_error(ErrorKind::kData, {"t.csv:4", "C1CC", "1 more invalid line"},
               [&] { build_molecules(o, bad_); });
  bad_.clear();
  o.skip_bad = true;
  const Dataset d = build_molecules(o, bad_);
  EXPECT_EQ(d.num_graphs(), 8);
  ASSERT_EQ(bad_.size(), 2U);
  EXPECT_EQ(bad_[0].line, 4);
  EXPECT_EQ(bad_[0].smiles, "C1CC");
  EXPECT_EQ(bad_[1].line, 7);
  EXPECT_FALSE(bad_[1].reason.empty());
  EXPECT_EQ(d.sample(2).num_nodes, 6);  // the third is gone: benzene, without a label, follows
  EXPECT_TRUE(std::isnan(d.labels.values.at(2, 0)));
}

TEST_F(BuildMolecules, PlainLinesWithZincsTarget) {
  EGC_NEED_RDKIT();
  files_.write("t.smi", "CCO ethanol\n\nc1ccccc1\tbenzene\r\nCC(=O)O\nCCN\nCCC\n");
  MoleculeOptions o = options("t.smi");
  o.labels.clear();
  o.zinc_target = true;
  o.recipe = Recipe::kZinc;
  o.fractions = {0.6, 0.2, 0.2};
  const Dataset d = build_molecules(o, bad_);
  ASSERT_EQ(d.num_graphs(), 5);
  EXPECT_EQ(d.info.task, Task::kGraphRegression);
  EXPECT_EQ(d.info.categories, std::vector<int64_t>{28});
  EXPECT_NEAR(d.labels.values.at(1, 0), zinc_target("c1ccccc1").target, 1e-6);
  o.labels = {"active"};
  expect_error(ErrorKind::kUsage, {"either --label columns"}, [&] { build_molecules(o, bad_); });
  o.zinc_target = false;
  expect_error(ErrorKind::kUsage, {"t.smi", "header row"}, [&] { build_molecules(o, bad_); });
}

TEST_F(BuildMolecules, BondsOfPredictionsAreThoseOfTraining) {
  EGC_NEED_RDKIT();
  write_table();
  for (const Recipe recipe : {Recipe::kOgb, Recipe::kZinc}) {
    MoleculeOptions o = options("t.csv");
    o.recipe = recipe;
    const Dataset d = build_molecules(o, bad_);
    // What a network was trained on may say nothing of bonds.
    data::DatasetInfo trained = d.info;
    trained.edge_features = data::FeatureKind::kNone;
    trained.edge_categories.clear();
    MoleculeStream stream(files_.path("t.csv"), "", trained);
    const auto chunk = stream.next(100);
    ASSERT_TRUE(chunk.has_value());
    EXPECT_EQ(to_vector(chunk->dataset.edges.values), to_vector(d.edges.values));
    EXPECT_EQ(to_vector(chunk->dataset.edge_features.categories.values),
              to_vector(d.edge_features.categories.values));
    EXPECT_EQ(chunk->dataset.info.edge_features, data::FeatureKind::kCategorical);
    EXPECT_EQ(chunk->dataset.info.edge_categories, d.info.edge_categories);
    EXPECT_NO_THROW(check_graphs(chunk->dataset, "t.csv"));
  }
}

TEST_F(BuildMolecules, WrongTablesAreRefused) {
  EGC_NEED_RDKIT();
  const std::tuple<const char*, ErrorKind, const char*> wrong[] = {
      {"", ErrorKind::kData, "header row"},
      {"smiles,active\n", ErrorKind::kData, "no molecules"},
      {"name,active\nCC,1\n", ErrorKind::kUsage, "\"smiles\""},
      {"smiles,label\nCC,1\n", ErrorKind::kUsage, "\"active\""},
      {"smiles,active\nCC\n", ErrorKind::kData, "t.csv:2"},
      {"smiles,active\nCC,1\nCCC,yes\n", ErrorKind::kData, "t.csv:3"},
      {"smiles,active\n,1\n", ErrorKind::kData, "t.csv:2"},
      {"smiles,smiles,active\nC,C,1\n", ErrorKind::kData, "duplicate column"},
  };
  for (const auto& [text, kind, reason] : wrong) {
    files_.write("t.csv", text);
    expect_error(kind, {"t.csv", reason}, [&] { build_molecules(options("t.csv"), bad_); });
  }
  EXPECT_THROW(build_molecules(options("none.csv"), bad_), Error);
  write_table();
  auto o = options("t.csv");
  o.task = Task::kGraphClassification;
  expect_error(ErrorKind::kUsage, {"graph-binary"}, [&] { build_molecules(o, bad_); });
}

TEST_F(BuildMolecules, ScaffoldSplitKeepsScaffoldsTogether) {
  EGC_NEED_RDKIT();
  std::string table = "smiles,active\n";
  const char* rings[] = {"c1ccccc1", "c1ccncc1", "C1CCCCC1", "c1ccoc1", "c1ccsc1", "C1CCCC1"};
  int rows = 0;
  for (int k = 0; k < 10; ++k)
    for (int r = 0; r < 6 - k / 2 && r < 6; ++r)
      table += fmt::format("{}{},{}\n", std::string(static_cast<size_t>(k + 1), 'C'), rings[r],
                           rows++ % 2);
  files_.write("t.csv", table);
  auto o = options("t.csv");
  o.split = MoleculeSplit::kScaffold;
  o.fractions = {0.6, 0.2, 0.2};
  const Dataset d = build_molecules(o, bad_);
  o.seed = 99;  // no chance in it
  EXPECT_EQ(difference(d, build_molecules(o, bad_)), "");
  ASSERT_EQ(d.splits.at(0).name, "scaffold");
  data::TextTable reader(files_.path("t.csv"));
  std::vector<std::string> fields;
  std::vector<std::string> scaffolds;
  while (reader.next(fields)) scaffolds.push_back(scaffold(fields[0]));
  std::set<std::string> seen;
  int64_t items = 0;
  for (const auto* part : {&d.splits[0].train, &d.splits[0].valid, &d.splits[0].test}) {
    std::set<std::string> here;
    for (const int64_t id : *part) here.insert(scaffolds[static_cast<size_t>(id)]);
    for (const std::string& s : here) EXPECT_TRUE(seen.insert(s).second) << s;
    EXPECT_FALSE(part->empty());
    items += part->size();
  }
  EXPECT_EQ(items, rows);
}

TEST(ScaffoldSplit, LargestGroupsComeFirst) {
  const data::Split s =
      scaffold_split({"b", "a", "b", "c", "b", "a", "b", "d", "b", "e"}, {0.5, 0.3, 0.2});
  EXPECT_EQ(to_vector(s.train), (std::vector<int64_t>{0, 2, 4, 6, 8}));
  EXPECT_EQ(to_vector(s.valid), (std::vector<int64_t>{1, 5, 9}));  // of equals the latest first
  EXPECT_EQ(to_vector(s.test), (std::vector<int64_t>{3, 7}));
}

// The published sets, molecule by molecule.
struct Published {
  fs::path dir;
  Dataset dataset;
  std::vector<std::string> smiles;
};

std::optional<Published> find_published(const std::string& folder) {
  const char* root = std::getenv("EGC_DATA");
  if (root == nullptr || !fs::is_directory(fs::path(root) / folder / "raw")) return std::nullopt;
  Published out{fs::path(root) / folder, {}, {}};
  out.dataset = data::read_dataset(out.dir, {.cache = false});
  data::TextTable table(out.dir / "mapping" / "mol.csv.gz");
  const size_t column = table.column(
      std::count(table.columns().begin(), table.columns().end(), "smiles") > 0 ? "smiles"
                                                                               : "SMILES");
  std::vector<std::string> fields;
  while (table.next(fields)) out.smiles.push_back(fields[column]);
  return out;
}

int64_t count_different_graphs(const Published& p, Recipe recipe) {
  std::vector<char> differs(p.smiles.size(), 0);
  parallel_tasks(static_cast<int64_t>(p.smiles.size()), [&](int64_t k) {
    const auto g = smiles_to_graph(p.smiles[k], recipe);
    const data::Sample s = p.dataset.sample(k);
    const auto same = [](const Ints& got, std::span<const int32_t> want) {
      return std::equal(got.begin(), got.end(), want.begin(), want.end());
    };
    const auto rows = [](const data::Matrix<int32_t>& m, int64_t first, int64_t count) {
      return m.values.span().subspan(static_cast<size_t>(first * m.columns),
                                     static_cast<size_t>(count * m.columns));
    };
    differs[k] = !same(g.edges, s.edges) ||
                 !same(g.node_categories,
                       rows(p.dataset.node_features.categories, s.first_node, s.num_nodes)) ||
                 !same(g.edge_categories,
                       rows(p.dataset.edge_features.categories, s.first_edge, s.num_edges()));
  });
  return std::count(differs.begin(), differs.end(), 1);
}

TEST(MoleculesOfDataDirectory, MolhivIsReproduced) {
  EGC_NEED_RDKIT();
  const auto p = find_published("ogbg_molhiv");
  if (!p) GTEST_SKIP() << "$EGC_DATA has no ogbg_molhiv";
  ASSERT_EQ(p->smiles.size(), 41127U);
  EXPECT_EQ(count_different_graphs(*p, Recipe::kOgb), 0);
  std::vector<std::string> scaffolds(p->smiles.size());
  parallel_tasks(41127, [&](int64_t k) { scaffolds[k] = scaffold(p->smiles[k]); });
  const data::Split got = scaffold_split(scaffolds, {0.8, 0.1, 0.1});
  const data::Split& want = p->dataset.splits.at(0);
  EXPECT_EQ(to_vector(got.train), to_vector(want.train));
  EXPECT_EQ(to_vector(got.valid), to_vector(want.valid));
  EXPECT_EQ(to_vector(got.test), to_vector(want.test));
}

TEST(MoleculesOfDataDirectory, ZincIsReproduced) {
  EGC_NEED_RDKIT();
  const auto p = find_published("zinc12k");
  if (!p) GTEST_SKIP() << "$EGC_DATA has no zinc12k";
  ASSERT_EQ(p->smiles.size(), 12000U);
  EXPECT_EQ(count_different_graphs(*p, Recipe::kZinc), 0);
  std::vector<double> error(12000);
  parallel_tasks(12000, [&](int64_t k) {
    error[k] = std::abs(zinc_target(p->smiles[k]).target - p->dataset.labels.values.at(k, 0));
  });
  const auto worst = std::max_element(error.begin(), error.end());
  EXPECT_LT(*worst, 1e-4) << p->smiles[static_cast<size_t>(worst - error.begin())];
}

}  // namespace
}  // namespace egc::molecules
