// Python sources as syntax trees: parsed, never run. Trees come in depth-first order with edges
// from parents to children, names are masked and become the labels.
#include "egc/data/build/build_code.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "tests/core/expect_error.h"
#include "tests/data/dataset_files.h"

namespace egc::data {
namespace {

using testing::DatasetFiles;
using testing::difference;
using testing::expect_error;
using Words = std::vector<std::string>;

#define EGC_NEED_PYTHON() \
  if (std::system("python3 -c pass >/dev/null 2>&1") != 0) GTEST_SKIP() << "no python3"

class BuildCode : public ::testing::Test {
 protected:
  BuildCode() {
    options_.from = files_.dir();
    options_.name = "mine";
    options_.fractions = {0.4, 0.3, 0.3};
  }
  // So many functions that a dataset can be made, each another.
  void write_functions(int count = 12) const {
    for (int k = 0; k < count; ++k)
      files_.write(fmt::format("p{}/f.py", k),
                   fmt::format("def filler_number{0}(a):\n    return a + {0}\n", k));
  }
  // The graph of a name's sub-tokens, or -1.
  static int64_t find(const CodeDataset& built, std::string_view name) {
    const TextLines& tokens = built.dataset.labels.tokens;
    for (int64_t k = 0; k < tokens.size(); ++k)
      if (tokens[k] == name) return k;
    return -1;
  }
  static Words column(const CodeDataset& built, int64_t k, int64_t which) {
    const Sample s = built.dataset.sample(k);
    const Words& words = which == 0 ? built.types : built.attributes;
    Words out;
    for (int64_t i = 0; i < s.num_nodes; ++i)
      out.push_back(words.at(built.dataset.node_features.categories.at(s.first_node + i, which)));
    return out;
  }

  DatasetFiles files_{"sources"};
  CodeOptions options_;
};

TEST_F(BuildCode, OneFunctionNodeByNode) {
  EGC_NEED_PYTHON();
  write_functions();
  for (int k = 0; k < 12; ++k)  // wherever it falls, its words are known from the others
    files_.write(fmt::format("q{}/g.py", k),
                 fmt::format("def get_HTTPName{}(a):\n    'Adds.'\n    return a + 1\n", k));
  const CodeDataset built = build_code(options_);
  EXPECT_TRUE(built.skipped.empty());
  const int64_t k = find(built, "get http name3");
  ASSERT_GE(k, 0);
  EXPECT_EQ(column(built, k, 0), (Words{"Module", "FunctionDef", "arguments", "arg", "Return",
                                        "BinOp", "Name", "Load", "Add", "Constant"}));
  EXPECT_EQ(column(built, k, 1), (Words{"__NONE__", "_mask_", "__NONE__", "a", "__NONE__",
                                        "__NONE__", "a", "__NONE__", "__NONE__", "1"}));
  const Sample s = built.dataset.sample(k);
  EXPECT_EQ(std::vector<int32_t>(s.edges.begin(), s.edges.end()),
            (std::vector<int32_t>{0, 1, 1, 2, 2, 3, 1, 4, 4, 5, 5, 6, 6, 7, 5, 8, 5, 9}));
  const int32_t depths[] = {0, 1, 2, 3, 2, 3, 4, 5, 4, 4};
  const uint8_t attributed[] = {0, 1, 0, 1, 0, 0, 1, 0, 0, 1};
  for (int64_t i = 0; i < s.num_nodes; ++i) {
    EXPECT_EQ(built.dataset.node_features.categories.at(s.first_node + i, 2), depths[i]);
    EXPECT_EQ(built.dataset.node_is_attributed[s.first_node + i], attributed[i]);
  }
}

TEST_F(BuildCode, TreesAreDepthFirst) {
  EGC_NEED_PYTHON();
  write_functions();
  std::string deep = "def deep_one(x):\n";
  for (int k = 0; k < 30; ++k) deep += std::string(4 + static_cast<size_t>(k), ' ') + "if x:\n";
  deep += std::string(34, ' ') + "return [y for y in x if y] + [lambda z: z * 2, f'{x}', ...]\n";
  files_.write("deep/d.py", deep);
  const CodeDataset built = build_code(options_);
  const Dataset& d = built.dataset;
  EXPECT_EQ(d.info.categories.size(), 3U);
  EXPECT_EQ(d.info.categories[2], 21);
  ASSERT_GE(find(built, "deep one"), 0);
  for (int64_t k = 0; k < d.num_graphs(); ++k) {
    const Sample s = d.sample(k);
    ASSERT_EQ(s.num_edges(), s.num_nodes - 1);
    std::vector<int32_t> parent(static_cast<size_t>(s.num_nodes), -1);
    std::vector<int32_t> depth(static_cast<size_t>(s.num_nodes), 0);
    std::vector<int32_t> path = {0};  // from the root to the last node
    for (int64_t e = 0; e < s.num_edges(); ++e) {
      const int32_t a = s.edges[2 * e];
      const int32_t b = s.edges[2 * e + 1];
      ASSERT_EQ(b, e + 1);  // every node once, in order
      while (!path.empty() && path.back() != a) path.pop_back();
      ASSERT_FALSE(path.empty()) << "node " << b << " of graph " << k << " comes too late";
      path.push_back(b);
      depth[b] = depth[a] + 1;
      EXPECT_EQ(d.node_features.categories.at(s.first_node + b, 2), std::min(depth[b], 20));
    }
    EXPECT_EQ(column(built, k, 0)[0], "Module");
    EXPECT_EQ(column(built, k, 1)[1], "_mask_");
  }
}

TEST_F(BuildCode, SourcesAreNotRun) {
  EGC_NEED_PYTHON();
  write_functions();
  const auto keep = files_.root() / "keep";
  const auto made = files_.root() / "made";
  { std::ofstream(keep) << "precious"; }
  files_.write("evil/e.py", fmt::format(R"(import os, sys
os.remove("{0}")
open("{1}", "w").write("run")
print('{{"file": "x", "name": ["printed"], "types": []}}')
sys.stderr.write("run")
def decorator(f=os.system("touch {1}")):
    return open("{1}", "w")
@decorator
def evil_default(x=open("{1}", "w")):
    """Doc."""
    return os.remove("{0}")
class Evil(metaclass=decorator()):
    os.remove("{0}")
    def innocent_method(self):
        return os.system("touch {1}") + 1
os._exit(3)
)",
                                        keep.string(), made.string()));
  // Names that Python itself would pick up, were it asked to import something.
  for (const char* name : {"json.py", "re.py", "ast.py", "sitecustomize.py", "__init__.py",
                           "evil/json.py", "evil/__init__.py"})
    files_.write(name, fmt::format("open('{}', 'w')\nraise SystemExit(4)\n", made.string()));
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(files_.dir());
  const CodeDataset built = build_code(options_);
  std::filesystem::current_path(before);
  EXPECT_TRUE(std::filesystem::exists(keep));
  EXPECT_FALSE(std::filesystem::exists(made));
  EXPECT_GE(find(built, "evil default"), 0);
  EXPECT_GE(find(built, "innocent method"), 0);
  EXPECT_EQ(find(built, "printed"), -1);
  EXPECT_TRUE(built.skipped.empty());
  for (const auto& entry : std::filesystem::recursive_directory_iterator(files_.dir()))
    EXPECT_NE(entry.path().filename(), "__pycache__");
}

TEST_F(BuildCode, BrokenSourcesAreSkippedAndNamed) {
  EGC_NEED_PYTHON();
  write_functions();
  const std::pair<const char*, std::string> broken[] = {
      {"broken/syntax.py", "def broken(:\n    pass\n"},
      {"broken/python2.py", "print 'hello'\n"},
      {"broken/nul.py", std::string("x = 1\0\n", 7)},
      {"broken/encoding.py", "# -*- coding: nonsense -*-\n"},
      {"broken/bytes.py", "x = '\xff\xfe'\n"},
      {"broken/deep.py", "x = " + std::string(3000, '(') + std::string(3000, ')') + "\n"},
      {"broken/deeper.py", "x = " + std::string(200'000, '-') + "1\n"},
      {"broken/tabs.py", "def f():\n\tif 1:\n        pass\n"},
  };
  for (const auto& [name, text] : broken) files_.write(name, text);
  files_.write("broken/fine.py", "def still_fine(a):\n    return a * 3 + 4\n");
  const CodeDataset built = build_code(options_);
  EXPECT_EQ(built.dataset.num_graphs(), 13);
  EXPECT_GE(find(built, "still fine"), 0);
  for (const auto& [name, text] : broken)
    EXPECT_EQ(std::count_if(built.skipped.begin(), built.skipped.end(),
                            [&, &file = name](const std::string& reason) {
                              return reason.starts_with(std::string(file) + ": ") &&
                                     reason.find('\n') == std::string::npos;
                            }),
              1)
        << name;
  EXPECT_EQ(built.skipped.size(), std::size(broken));
}

TEST_F(BuildCode, OddFileNamesAreRead) {
  EGC_NEED_PYTHON();
  write_functions();
  int k = 0;
  for (const char* name : {"with blank.py", "quote\"'.py", "sn\xC3\xB6w.py", "back\\slash.py",
                           "-c.py", "not utf \xff.py", "new\nline.py"})
    files_.write(name, fmt::format("def odd_file{0}(a):\n    return a - {0}\n", k++));
  files_.write("text.txt", "def not_python(a):\n    return a - 1\n");
  const CodeDataset built = build_code(options_);
  EXPECT_EQ(built.dataset.num_graphs(), 12 + 7);
  EXPECT_EQ(find(built, "not python"), -1);
}

TEST_F(BuildCode, UnicodeNestedAsyncMethodsAndDunders) {
  EGC_NEED_PYTHON();
  write_functions();
  files_.write("more/m.py", R"(
class Outer:
    def __init__(self, a):
        self.a = a + 1
    def camelCaseName(self, b):
        return self.a + b
    async def async_fetch(self, b):
        return await self.a + b
def outer_function(a):
    def inner_function(b):
        return b + 1
    return inner_function(a)
def grüße_alle(größe):
    return größe + "größe"
def 数(a):
    return a + 1
def _(a):
    return a + 1
def _private_one(a):
    return a + 1
)");
  const CodeDataset built = build_code(options_);
  EXPECT_TRUE(built.skipped.empty());
  for (const char* name :
       {"camel case name", "async fetch", "outer function", "inner function", "private one"})
    EXPECT_GE(find(built, name), 0) << name;
  EXPECT_EQ(find(built, "init"), -1);
  EXPECT_EQ(find(built, ""), -1);
  // The outer tree holds the inner one, whose name is not masked there.
  const int64_t outer = find(built, "outer function");
  const Words types = column(built, outer, 0);
  EXPECT_EQ(std::count(types.begin(), types.end(), "FunctionDef"), 2);
  const Words attributes = column(built, outer, 1);
  EXPECT_EQ(std::count(attributes.begin(), attributes.end(), "_mask_"), 1);
  // A name with letters beyond ASCII has a label of its words.
  const TextLines& tokens = built.dataset.labels.tokens;
  bool greeted = false;
  for (int64_t k = 0; k < tokens.size(); ++k)
    greeted |= tokens[k].find("alle") != std::string::npos;
  EXPECT_TRUE(greeted);
}

TEST_F(BuildCode, SizesAndCopies) {
  EGC_NEED_PYTHON();
  write_functions();
  files_.write("copies/a.py", "def same_thing(a):\n    return a + 1\n");
  files_.write("copies/b.py",
               "def same_thing(a):\n    # a comment is no difference\n    return a+1\n");
  files_.write("copies/small.py", "def tiny(): pass\n");
  std::string large = "def large_one(a):\n";
  for (int k = 0; k < 400; ++k) large += "    a = a + 1\n";
  files_.write("copies/large.py", large);
  const CodeDataset built = build_code(options_);
  EXPECT_EQ(built.dataset.num_graphs(), 13);
  options_.min_nodes = 1;
  options_.max_nodes = 100'000;
  EXPECT_EQ(build_code(options_).dataset.num_graphs(), 15);
}

TEST_F(BuildCode, SplitKeepsProjectsTogetherAndIsRepeatable) {
  EGC_NEED_PYTHON();
  write_functions(15);
  for (int k = 0; k < 15; ++k)
    files_.write(fmt::format("p{}/sub/g.py", k),
                 fmt::format("def second_number{0}(a, b):\n    return a * b + {0}\n", k));
  const CodeDataset built = build_code(options_);
  const Split& s = built.dataset.splits.at(0);
  EXPECT_EQ(s.name, "project");
  std::map<std::string, std::set<int>> parts;  // of each project's number
  int part = 0;
  for (const auto* ids : {&s.train, &s.valid, &s.test}) {
    EXPECT_FALSE(ids->empty());
    for (const int64_t id : *ids) {
      const std::string name(built.dataset.labels.tokens[id]);
      parts[name.substr(name.find("number"))].insert(part);
    }
    ++part;
  }
  EXPECT_EQ(parts.size(), 15U);
  for (const auto& [project, in] : parts) EXPECT_EQ(in.size(), 1U) << project;
  EXPECT_EQ(difference(built.dataset, build_code(options_).dataset), "");
  options_.seed = 5;
  EXPECT_NE(difference(built.dataset, build_code(options_).dataset), "");
}

TEST_F(BuildCode, AttributesAreTheCommonestOfTraining) {
  EGC_NEED_PYTHON();
  write_functions(20);
  options_.attributes = 2;
  const CodeDataset built = build_code(options_);
  EXPECT_EQ(built.attributes, (Words{"a", "_mask_", "__UNK__", "__NONE__"}));
  EXPECT_EQ(built.dataset.info.categories[1], 4);
}

TEST_F(BuildCode, TooLittleIsRefused) {
  EGC_NEED_PYTHON();
  expect_error(ErrorKind::kData, {"sources", "found 0"}, [&] { build_code(options_); });
  write_functions(2);
  expect_error(ErrorKind::kData, {"sources", "found 2"}, [&] { build_code(options_); });
  options_.from = files_.path("none");
  expect_error(ErrorKind::kData, {"none", "directory"}, [&] { build_code(options_); });
}

TEST_F(BuildCode, WithoutPythonItSaysSo) {
  write_functions();
  const std::string path = std::getenv("PATH") == nullptr ? "" : std::getenv("PATH");
  setenv("PATH", files_.dir().c_str(), 1);
  expect_error(ErrorKind::kSystem, {"python3"}, [&] { build_code(options_); });
  setenv("PATH", path.c_str(), 1);
}

TEST(BuildCodeNames, AreMaskedWhereTheFunctionCallsItself) {
  const testing::DatasetFiles files;
  std::string source;
  for (int k = 0; k < 12; ++k)
    source +=
        fmt::format("def fib_value{0}(n):\n    return fib_value{0}(n - 1) + other{0}(n)\n", k);
  files.write("code/a.py", source);
  CodeOptions options;
  options.from = files.path("code");
  const CodeDataset built = build_code(options);
  EXPECT_EQ(built.dataset.num_graphs(), 12);
  for (const std::string& word : built.attributes)
    EXPECT_EQ(word.find("fib_value"), std::string::npos) << word;
}

}  // namespace
}  // namespace egc::data
