// Whole datasets: the input is several files, each after a line "=== path". What ends in .gz is
// packed here. The first digit: 1, the dataset is read twice, the second time from its cache. What
// is read must hold together (check_dataset) and make the graphs of training.
#include "egc/data/raw/read_dataset.h"

#include <fcntl.h>

#include <cstring>

#include "egc/data/training_edges.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/gzip.h"

namespace {

namespace fs = std::filesystem;
using egc::ErrorKind;
using egc::data::Dataset;
using egc::fuzz::expect;

bool is_safe(std::string_view name) {
  constexpr size_t kLongest = 200;
  if (name.empty() || name.size() > kLongest || name[0] == '/' ||
      name.find('\0') != std::string_view::npos)
    return false;
  for (const fs::path& part : fs::path(name))
    if (part == ".." || part == "." || part.empty()) return false;
  return true;
}

void write(const fs::path& path, std::string_view content) {
  std::error_code ignored;  // a file where a directory should be: the reader has to cope
  fs::create_directories(path.parent_path(), ignored);
  const std::string packed =
      path.extension() == ".gz" ? egc::fuzz::gzip(content) : std::string(content);
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return;
  if (::write(fd, packed.data(), packed.size()) < 0) egc::fuzz::finding("no space");
  close(fd);
}

void write_files(const fs::path& dir, std::string_view rest) {
  constexpr std::string_view kMark = "\n=== ";
  constexpr int kMax = 32;
  size_t at = rest.find(kMark);
  for (int k = 0; k < kMax && at != std::string_view::npos; ++k) {
    rest.remove_prefix(at + kMark.size());
    at = rest.find(kMark);
    // The newline before the mark belongs to the file before it.
    const std::string_view part = at == std::string_view::npos ? rest : rest.substr(0, at + 1);
    const size_t end = std::min(part.find('\n'), part.size());
    if (is_safe(part.substr(0, end)))
      write(dir / part.substr(0, end), part.substr(std::min(end + 1, part.size())));
  }
}

void check_use(const Dataset& d) {
  constexpr int64_t kMaxNodes = 100'000;  // counted nodes need no byte in any file
  check_dataset(d, "x");
  visit_arrays(d, [](const std::string&, const auto& array) {
    if constexpr (requires { array.columns; })
      egc::fuzz::touch(array.values);
    else
      egc::fuzz::touch(array);
  });
  if (d.num_nodes() > kMaxNodes) return;
  if (!d.hetero.empty()) {
    training_hetero_graph(d);
    return;
  }
  for (int64_t k = 0; k < std::min<int64_t>(d.num_graphs(), 10); ++k)
    training_graph(d, k, egc::data::EdgeRules::of(d));
}

bool same(const Dataset& a, const Dataset& b) {
  bool equal = a.info == b.info && a.hetero.schema == b.hetero.schema &&
               a.splits.size() == b.splits.size() && a.num_bytes() == b.num_bytes();
  const auto hash = [](const Dataset& d) {
    std::string all;
    visit_arrays(d, [&](const std::string& name, const auto& array) {
      all += name;
      const auto add = [&](auto span) {
        all.append(reinterpret_cast<const char*>(span.data()), span.size_bytes());
      };
      if constexpr (requires { array.columns; })
        add(array.values.span());
      else
        add(array.span());
    });
    return all;
  };
  return equal && hash(a) == hash(b);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const egc::fuzz::ScratchDirectory scratch;
  // Where a cache goes that cannot be written beside the data: not to the user's.
  static const int elsewhere = setenv("XDG_CACHE_HOME", (scratch.path() / "cache").c_str(), 1);
  expect(elsewhere == 0, "setenv failed");
  egc::fuzz::Input input(data, size);
  const bool cache = input.choose(2) == 1;
  const fs::path dir = scratch.path() / "data";
  fs::create_directory(dir);
  write_files(dir, input.rest());
  Dataset d;
  if (egc::fuzz::throws_only({ErrorKind::kData},
                             [&] { d = egc::data::read_dataset(dir, {.cache = cache}); })) {
    check_use(d);
    if (cache) expect(same(d, egc::data::read_dataset(dir)), "another dataset from the cache");
  }
  fs::remove_all(dir);
  return 0;
}
