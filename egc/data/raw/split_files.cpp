// Reading the split folders (splits.h).
#include <algorithm>
#include <charconv>

#include "egc/core/error.h"
#include "egc/data/formats/number_table.h"
#include "egc/data/formats/text_blocks.h"
#include "egc/data/raw/table_files.h"
#include "egc/data/splits.h"

namespace egc::data {
namespace {

namespace fs = std::filesystem;

// Ids with the place each came from, for the message when two parts share one.
class Marks {
 public:
  explicit Marks(int64_t items) : part_(static_cast<size_t>(items), 0) {}

  void take(const Array<int64_t>& ids, int part, const fs::path& path, int64_t line = 0) {
    constexpr const char* kParts[] = {"", "train", "valid", "test"};
    const auto items = static_cast<int64_t>(part_.size());
    check_data(!ids.empty(), "{}: the set is empty", path.string());
    for (int64_t k = 0; k < ids.size(); ++k) {
      const auto where = [&] {
        return fmt::format("{}:{}", path.string(), line == 0 ? k + 1 : line);
      };
      if (ids[k] < 0 || ids[k] >= items)
        fail(ErrorKind::kData, "{}: an id must be in [0, {}), got {}", where(), items, ids[k]);
      if (part_[ids[k]] != 0)
        fail(ErrorKind::kData, "{}: id {} is already in {}", where(), ids[k],
             kParts[part_[ids[k]]]);
      part_[ids[k]] = static_cast<uint8_t>(part);
    }
  }

 private:
  std::vector<uint8_t> part_;
};

constexpr auto kTables = {".csv.gz", ".csv"};
constexpr auto kTexts = {".txt.gz", ".txt"};
constexpr auto kIndexes = {".index.gz", ".index"};

Array<int64_t> read_ids(const fs::path& path) { return read_number_column<int64_t>(path); }

// The file `stem` of a split folder that has others: missing is an error.
fs::path need_file(const fs::path& dir, const std::string& stem,
                   std::initializer_list<const char*> endings) {
  if (const auto path = find_file(dir, stem, endings)) return *path;
  fail(ErrorKind::kData, "{}: not found; a split needs train and test",
       (dir / (stem + *endings.begin())).string());
}

Split read_parts(const fs::path& dir, const std::string& name, int64_t items) {
  const fs::path train = need_file(dir, "train", kTables);
  const fs::path test = need_file(dir, "test", kTables);
  auto valid = find_file(dir, "valid", kTables);
  if (!valid) valid = find_file(dir, "val", kTables);
  Split out{name, read_ids(train), {}, read_ids(test)};
  Marks marks(items);
  marks.take(out.train, 1, train);
  if (valid) {
    out.valid = read_ids(*valid);
    marks.take(out.valid, 2, *valid);
  }
  marks.take(out.test, 3, test);
  return out;
}

Split read_fold(const fs::path& dir, const std::string& name, int fold, int64_t items) {
  const std::string suffix = fmt::format("_idx-{}", fold);
  const fs::path train = need_file(dir, "train" + suffix, kTexts);
  const fs::path test = need_file(dir, "test" + suffix, kTexts);
  Split out{fmt::format("{}-{}", name, fold), read_ids(train), {}, read_ids(test)};
  Marks marks(items);
  marks.take(out.train, 1, train);
  marks.take(out.test, 3, test);
  return out;
}

std::vector<Split> read_index_folds(const fs::path& dir, const std::string& name, int64_t items) {
  const fs::path paths[] = {need_file(dir, "train", kIndexes), need_file(dir, "val", kIndexes),
                            need_file(dir, "test", kIndexes)};
  std::vector<IndexLine> parts[3];
  for (int p = 0; p < 3; ++p) {
    parts[p] = read_index_lines(paths[p]);
    check_data(parts[p].size() == parts[0].size(), "{}: expected {} lines, one a fold, found {}",
               paths[p].string(), parts[0].size(), parts[p].size());
  }
  check_data(!parts[0].empty(), "{}: expected a line for each fold, found none", paths[0].string());
  std::vector<Split> out;
  for (size_t fold = 0; fold < parts[0].size(); ++fold) {
    Marks marks(items);
    for (int p = 0; p < 3; ++p)
      marks.take(parts[p][fold].ids, p + 1, paths[p], parts[p][fold].line);
    out.push_back({fmt::format("{}-{}", name, fold + 1), parts[0][fold].ids, parts[1][fold].ids,
                   parts[2][fold].ids});
  }
  return out;
}

std::vector<Split> read_folder(const fs::path& dir, const std::string& name, int64_t items,
                               const std::string& target_type) {
  if (find_file(dir, "train_idx-1", kTexts)) {
    std::vector<Split> folds;
    for (int fold = 1; find_file(dir, fmt::format("train_idx-{}", fold), kTexts); ++fold)
      folds.push_back(read_fold(dir, name, fold, items));
    return folds;
  }
  if (find_file(dir, "train", kIndexes)) return read_index_folds(dir, name, items);
  if (!target_type.empty() && fs::is_directory(dir / target_type))
    return {read_parts(dir / target_type, name, items)};
  return {read_parts(dir, name, items)};
}

}  // namespace

std::vector<IndexLine> read_index_lines(const fs::path& path) {
  std::vector<IndexLine> out;
  TextLinesReader lines(path);
  std::string_view line;
  while (lines.next(line)) {
    if (line.empty()) continue;
    std::vector<int64_t> ids;
    for (const char *p = line.data(), *end = p + line.size(); p <= end;) {
      int64_t id = 0;
      const auto [next, error] = std::from_chars(p, end, id);
      check_data(error == std::errc() && (next == end || *next == ','),
                 "{}:{}: expected ids separated by commas, got \"{}\"", path.string(),
                 lines.line_number(), std::string_view(p, std::min<size_t>(end - p, 20)));
      ids.push_back(id);
      p = next + 1;
    }
    out.push_back({std::move(ids), lines.line_number()});
  }
  return out;
}

std::vector<Split> read_splits(const fs::path& dir, int64_t items, const std::string& target_type) {
  std::vector<Split> out;
  const fs::path root = dir / "split";
  if (!fs::is_directory(root)) return out;
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(root))
    if (entry.is_directory()) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());  // the order of a directory is the file system's own
  for (const std::string& name : names)
    for (Split& split : read_folder(root / name, name, items, target_type))
      out.push_back(std::move(split));
  return out;
}

}  // namespace egc::data
