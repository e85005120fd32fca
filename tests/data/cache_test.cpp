// The cache: it gives the same dataset or nothing, whatever happened to it or to the files.
#include "egc/data/raw/cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <thread>

#include "egc/core/error.h"
#include "egc/core/log.h"
#include "egc/core/rng.h"
#include "egc/core/safetensors.h"
#include "egc/data/raw/read_dataset.h"
#include "tests/data/dataset_files.h"

namespace egc::data {
namespace {

namespace fs = std::filesystem;
using testing::DatasetFiles;
using testing::difference;
using testing::gzip;
using Files = const DatasetFiles&;
using Make = void (DatasetFiles::*)() const;

constexpr const char* kCache = ".egc-cache.safetensors";

constexpr Make kAll[] = {&DatasetFiles::make_molecules, &DatasetFiles::make_citations,
                         &DatasetFiles::make_authors, &DatasetFiles::make_relations,
                         &DatasetFiles::make_code};

// A variable of the environment for a scope.
class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    setenv(name, value.c_str(), 1);
  }
  ~Environment() {
    if (before_)
      setenv(name_, before_->c_str(), 1);
    else
      unsetenv(name_);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

// The user's cache directory is in the test's own for every test.
class Cache : public ::testing::Test {
 protected:
  Dataset parse() const { return read_dataset(files_.dir(), {.cache = false}); }
  Dataset read() const { return read_dataset(files_.dir()); }
  std::optional<Dataset> load() const {
    return load_cache(files_.dir(), source_stamp(files_.dir()));
  }
  void expect_good_cache() const {
    const auto cached = load();
    ASSERT_TRUE(cached.has_value());
    EXPECT_EQ(difference(*cached, parse()), "");
  }
  // Names of the files beside the data: a temporary left behind shows here.
  std::vector<std::string> listing() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(files_.dir()))
      if (!entry.is_directory()) names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }

  const DatasetFiles files_;
  const fs::path user_ = files_.root() / "user cache";
  const Environment xdg_{"XDG_CACHE_HOME", user_.string()};
};

TEST_F(Cache, IsWrittenOnceAndGivesTheSame) {
  for (const Make make : kAll) {
    const DatasetFiles files;
    (files.*make)();
    const Dataset want = read_dataset(files.dir(), {.cache = false});
    EXPECT_FALSE(fs::exists(files.path(kCache)));
    EXPECT_EQ(difference(read_dataset(files.dir()), want), "");
    ASSERT_TRUE(fs::exists(files.path(kCache)));
    const auto cached = load_cache(files.dir(), source_stamp(files.dir()));
    ASSERT_TRUE(cached.has_value()) << want.info.name;
    EXPECT_EQ(difference(*cached, want), "") << want.info.name;
    EXPECT_NO_THROW(check_dataset(*cached, "test")) << want.info.name;
    // The second reading takes it and leaves it.
    const auto written = fs::last_write_time(files.path(kCache));
    const auto inode = [&] {
      struct stat info {};
      stat(files.path(kCache).c_str(), &info);
      return info.st_ino;
    };
    const auto before = inode();
    EXPECT_EQ(difference(read_dataset(files.dir()), want), "");
    EXPECT_EQ(fs::last_write_time(files.path(kCache)), written);
    EXPECT_EQ(inode(), before);
  }
}

TEST_F(Cache, IsWhatTheSecondReadingReads) {
  // Another dataset under this one's stamp: who reads the cache sees the other.
  files_.make_molecules();
  Dataset other = parse();
  other.info.name = "from the cache";
  store_cache(files_.dir(), source_stamp(files_.dir()), other);
  EXPECT_EQ(read().info.name, "from the cache");
  EXPECT_EQ(parse().info.name, "molecules");
}

TEST_F(Cache, OutlivesItsFile) {
  files_.make_citations();
  const Dataset want = parse();
  read();
  const auto cached = load();
  ASSERT_TRUE(cached.has_value());
  files_.remove(kCache);
  EXPECT_EQ(difference(*cached, want), "");
}

struct Change {
  const char* name;
  std::function<void(Files)> change;
};

TEST_F(Cache, IsRebuiltWhenAnyFileChanges) {
  const auto later = [](Files f, const char* name) {
    const fs::path path = f.path(name);
    fs::last_write_time(path, fs::last_write_time(path) + std::chrono::nanoseconds(1));
  };
  const Change changes[] = {
      {"SameSizeAndTime", [](Files) {}},  // nothing: the one that may not rebuild
      {"Content",
       [&](Files f) {
         f.replace("raw/node-label.csv", "2\n", "0\n");
         fs::last_write_time(f.path("raw/node-label.csv"), fs::file_time_type::clock::now());
       }},
      {"Size", [](Files f) { f.replace("raw/node-feat.csv", "3e2", "300"); }},
      {"SizeWithTheOldTime",
       [](Files f) {
         const auto time = fs::last_write_time(f.path("raw/edge.csv"));
         f.replace("raw/edge.csv", "4,4\n", "");
         fs::last_write_time(f.path("raw/edge.csv"), time);
       }},
      {"Time", [&](Files f) { later(f, "raw/edge.csv"); }},
      {"TimeOfASplit", [&](Files f) { later(f, "split/time/valid.csv"); }},
      {"TimeOfTheInfo", [&](Files f) { later(f, "dataset.json"); }},
      {"NoInfo", [](Files f) { f.remove("dataset.json"); }},
      {"NoValid", [](Files f) { f.remove("split/time/valid.csv"); }},
      {"AnotherSplit",
       [](Files f) {
         f.write("split/another/train.csv", "0\n");
         f.write("split/another/test.csv", "1\n");
       }},
      {"AnotherName", [](Files f) { fs::rename(f.path("split/time"), f.path("split/year")); }},
      {"MoreEdgeFeatures", [](Files f) { f.write("raw/edge-feat.csv", "0\n1\n0\n1\n0\n1\n"); }},
      {"GzipBesides", [](Files f) { f.write("raw/node-label.csv.gz", gzip("0\n0\n0\n0\n0\n")); }},
      {"Npy", [](Files f) {
         f.write("raw/node-feat.npy",
                 testing::npy("<f4", "(5,)", testing::bytes_of(std::vector<float>(5))));
       }}};
  for (const Change& c : changes) {
    SCOPED_TRACE(c.name);
    const DatasetFiles files;
    files.make_citations();
    read_dataset(files.dir());
    const std::string before = source_stamp(files.dir());
    c.change(files);
    const bool changed = std::string(c.name) != "SameSizeAndTime";
    EXPECT_EQ(source_stamp(files.dir()) != before, changed);
    EXPECT_EQ(load_cache(files.dir(), source_stamp(files.dir())).has_value(), !changed);
    const Dataset want = read_dataset(files.dir(), {.cache = false});
    EXPECT_EQ(difference(read_dataset(files.dir()), want), "");
    const auto cached = load_cache(files.dir(), source_stamp(files.dir()));
    ASSERT_TRUE(cached.has_value());
    EXPECT_EQ(difference(*cached, want), "");
  }
}

TEST_F(Cache, IsRebuiltWhenAFileBehindALinkChanges) {
  // Splits and relations may be kept elsewhere.
  files_.make_citations();
  fs::rename(files_.path("split/time"), files_.root() / "time");
  fs::create_directory_symlink(files_.root() / "time", files_.path("split/time"));
  read();
  files_.write("../time/test.csv", "1\n");
  EXPECT_EQ(parse().split("time").test.size(), 1);
  EXPECT_EQ(difference(read(), parse()), "");
}

TEST_F(Cache, IsRebuiltWhenTheFolderIsRenamed) {
  // Without dataset.json its name is the dataset's, and may tell the task.
  files_.make_molecules();
  files_.remove("dataset.json");
  files_.write("raw/node-feat.csv", "0\n1\n2\n3\n4\n5\n6\n7\n8\n");
  EXPECT_EQ(read().info.name, "data");
  const fs::path renamed = files_.root() / "zinc";
  fs::rename(files_.dir(), renamed);
  EXPECT_EQ(difference(read_dataset(renamed), read_dataset(renamed, {.cache = false})), "");
}

TEST_F(Cache, OfWrongFilesIsNotWritten) {
  files_.make_citations();
  files_.write("raw/edge.csv", "0,9\n");
  EXPECT_THROW(read(), Error);
  EXPECT_EQ(listing(), std::vector<std::string>{"dataset.json"});
  EXPECT_FALSE(fs::exists(user_));
}

TEST_F(Cache, EveryTruncationIsRefused) {
  files_.make_molecules();
  const Dataset want = read();
  const std::string whole = files_.read(kCache);
  for (size_t size = 0; size < whole.size(); size += 1 + size / 50) {
    files_.write(kCache, whole.substr(0, size));
    EXPECT_FALSE(load().has_value()) << size;
  }
  files_.write(kCache, whole.substr(0, whole.size() - 1));
  EXPECT_FALSE(load().has_value());
  files_.write(kCache, whole + "x");
  EXPECT_FALSE(load().has_value());
  EXPECT_EQ(difference(read(), want), "");  // and makes it anew
  EXPECT_EQ(files_.read(kCache), whole);
}

// No byte anywhere can be another without the cache being refused, or saying the same.
TEST_F(Cache, NoFlippedByteIsBelieved) {
  for (const Make make : kAll) {
    const DatasetFiles files;
    (files.*make)();
    const Dataset want = read_dataset(files.dir());
    const std::string stamp = source_stamp(files.dir());
    const std::string whole = files.read(kCache);
    std::vector<std::string> wrong;
    for (size_t at = 0; at < whole.size(); ++at) {
      files.poke(kCache, at, static_cast<char>(whole[at] ^ 1));
      const auto cached = load_cache(files.dir(), stamp);
      files.poke(kCache, at, whole[at]);
      if (!cached) continue;
      const std::string differs = difference(*cached, want);
      if (!differs.empty())
        wrong.push_back(differs + " by a change after \"" +
                        whole.substr(at < 20 ? 0 : at - 20, 20) + '"');
    }
    EXPECT_EQ(files.read(kCache), whole);
    EXPECT_TRUE(wrong.empty()) << want.info.name << ": " << wrong.size() << " of " << whole.size()
                               << " bytes, the first gave another " << wrong.front();
  }
}

TEST_F(Cache, RandomDamageIsNotBelieved) {
  files_.make_authors();
  const Dataset want = read();
  const std::string stamp = source_stamp(files_.dir());
  const std::string whole = files_.read(kCache);
  Rng rng(21);
  int wrong = 0;
  for (int round = 0; round < 200; ++round) {
    const auto at = rng.below(static_cast<uint32_t>(whole.size()));
    files_.poke(kCache, at, static_cast<char>(whole[at] ^ static_cast<char>(1 + rng.below(255))));
    EXPECT_NO_THROW({
      const auto cached = load_cache(files_.dir(), stamp);
      files_.poke(kCache, at, whole[at]);
      wrong += cached && !difference(*cached, want).empty();
    });
  }
  EXPECT_EQ(wrong, 0);
}

TEST_F(Cache, DamageIsRepairedWithAWarning) {
  files_.make_citations();
  const Dataset want = read();
  std::string damaged = files_.read(kCache);
  damaged.back() ^= 1;
  files_.write(kCache, damaged);
  std::vector<std::string> warnings;
  set_log_sink([&](LogLevel level, std::string_view text) {
    if (level == LogLevel::kWarning) warnings.emplace_back(text);
  });
  EXPECT_EQ(difference(read(), want), "");
  read();
  set_log_sink({});
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find(kCache), std::string::npos) << warnings[0];
  expect_good_cache();
}

TEST_F(Cache, OfAnotherVersionOrStampIsIgnored) {
  files_.make_citations();
  read();
  const std::string whole = files_.read(kCache);
  for (const std::string key : {"\"egc_dataset_cache\":\"", "\"stamp\":\""}) {
    std::string other = whole;
    const size_t at = other.find(key);
    ASSERT_NE(at, std::string::npos);
    other[at + key.size()] = '#';
    files_.write(kCache, other);
    EXPECT_FALSE(load().has_value()) << key;
  }
  read();
  EXPECT_EQ(files_.read(kCache), whole);
}

TEST_F(Cache, OfForeignContentIsReplaced) {
  files_.make_citations();
  write_safetensors(files_.path(kCache), {{"weight", {DType::kF32, {0}, {}}}});
  EXPECT_EQ(difference(read(), parse()), "");
  expect_good_cache();
}

TEST_F(Cache, GoesToTheUserWhereItsPlaceIsTaken) {
  files_.make_citations();
  files_.write(std::string(kCache) + "/a file", "");  // a directory: nothing is renamed onto it
  const Dataset want = read();
  EXPECT_EQ(difference(want, parse()), "");
  const auto paths = cache_paths(files_.dir());
  ASSERT_EQ(paths.size(), 2U);
  EXPECT_TRUE(paths[1].string().starts_with(user_.string())) << paths[1];
  EXPECT_TRUE(fs::is_regular_file(paths[1]));
  EXPECT_EQ(listing(), std::vector<std::string>{"dataset.json"});  // no temporary
  expect_good_cache();
  // It is read from there, too.
  Dataset other = want;
  other.info.name = "from the cache";
  store_cache(files_.dir(), source_stamp(files_.dir()), other);
  EXPECT_EQ(read().info.name, "from the cache");
}

TEST_F(Cache, OfTwoDatasetsAreTwoAtTheUser) {
  const DatasetFiles other;
  files_.make_citations();
  EXPECT_EQ(cache_paths(files_.dir())[1], cache_paths(files_.dir() / "")[1]);
  EXPECT_NE(cache_paths(files_.dir())[1], cache_paths(other.dir())[1]);
  EXPECT_EQ(cache_paths(files_.dir())[1], cache_paths(files_.dir() / "raw" / "..")[1]);
}

TEST_F(Cache, NowhereIsNoError) {
  files_.make_citations();
  files_.write(std::string(kCache) + "/a file", "");
  std::ofstream(user_) << "not a directory";
  std::vector<std::string> remarks;
  set_log_sink([&](LogLevel, std::string_view text) { remarks.emplace_back(text); });
  EXPECT_EQ(difference(read(), parse()), "");
  set_log_sink({});
  EXPECT_FALSE(remarks.empty());
  EXPECT_FALSE(load().has_value());
}

TEST_F(Cache, OfNamesThatAreNoUtf8IsNoError) {
  // Splits and types are named by folders, and those by any bytes.
  files_.make_citations();
  fs::rename(files_.path("split/time"), files_.path("split/t\xffme"));
  try {
    const Dataset d = read();
    EXPECT_EQ(d.splits[0].name, "t\xffme");
    EXPECT_EQ(difference(read(), parse()), "");
  } catch (const std::exception& e) {
    ADD_FAILURE() << e.what();
  }
}

TEST_F(Cache, OfAFolderThatIsNoUtf8SaysTheSame) {
  const DatasetFiles files("d\xff");
  files.make_citations();
  files.remove("dataset.json");
  const Dataset want = read_dataset(files.dir());
  EXPECT_EQ(difference(read_dataset(files.dir()), want), "");
}

TEST_F(Cache, TwoThreadsAtOnce) {
  files_.make_authors();
  const Dataset want = parse();
  for (int round = 0; round < 20; ++round) {
    fs::remove(files_.path(kCache));
    std::string differs[4];
    {
      std::vector<std::jthread> threads;
      for (std::string& to : differs)
        threads.emplace_back([&] {
          try {
            to = difference(read(), want);
          } catch (const std::exception& e) {
            to = e.what();
          }
        });
    }
    for (const std::string& text : differs) EXPECT_EQ(text, "");
    expect_good_cache();
    EXPECT_EQ(listing(), (std::vector<std::string>{kCache, "dataset.json"}));
  }
}

// The children are this program anew, in which this very test does their part: a child that merely
// forked would have none of the threads that others of this process wait for.
TEST_F(Cache, TwoProcessesAtOnce) {
  constexpr const char* kChildOf = "EGC_TEST_CHILD_OF";
  if (const char* dir = std::getenv(kChildOf)) {
    const Dataset want = read_dataset(dir, {.cache = false});
    for (int round = 0; round < 30; ++round) {
      std::error_code ignored;
      fs::remove(fs::path(dir) / kCache, ignored);
      ASSERT_EQ(difference(read_dataset(dir), want), "");
    }
    return;
  }
  files_.make_authors();
  const Environment parent(kChildOf, files_.dir().string());
  std::vector<pid_t> children;
  for (int child = 0; child < 3; ++child) {
    const pid_t pid = fork();
    ASSERT_GE(pid, 0);
    if (pid == 0) {
      execl("/proc/self/exe", "child", "--gtest_filter=Cache.TwoProcessesAtOnce", "--gtest_brief=1",
            nullptr);
      _exit(127);
    }
    children.push_back(pid);
  }
  for (const pid_t pid : children) {
    int status = -1;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  expect_good_cache();
  EXPECT_EQ(listing(), (std::vector<std::string>{kCache, "dataset.json"}));
}

// A checksum is no signature: who writes a cache on purpose can have it fit.
TEST_F(Cache, WithIdsOutOfRangeIsNotBelieved) {
  files_.make_citations();
  Dataset d = read();
  const auto want = d.splits[0].train[0];
  d.splits[0].train = std::vector<int64_t>{int64_t{1} << 40};
  store_cache(files_.dir(), source_stamp(files_.dir()), d);
  EXPECT_FALSE(load().has_value());
  EXPECT_EQ(read().splits[0].train[0], want);
}

}  // namespace
}  // namespace egc::data
