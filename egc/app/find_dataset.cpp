#include "egc/app/find_dataset.h"

#include <cstdlib>

#include "egc/core/error.h"
#include "egc/core/nearest_name.h"
#include "egc/data/build/target_type.h"
#include "egc/data/dataset_table.h"
#include "egc/data/generate/generators.h"
#include "egc/data/partition/dataset_part.h"
#include "egc/data/raw/read_dataset.h"

namespace egc::app {

namespace fs = std::filesystem;

std::string default_data_dir() {
  if (const char* dir = std::getenv("EGC_DATA"); dir != nullptr && *dir != 0) return dir;
  const char* home = std::getenv("HOME");
  return std::string(home == nullptr ? "." : home) + "/.cache/egc";
}

std::optional<fs::path> dataset_directory(const std::string& name, const Session& session) {
  if (name == kPapersOfMag) return dataset_directory("mag", session);
  std::error_code ignored;  // a name that is no path at all is simply not there
  const auto is_dataset = [&](const fs::path& dir) {
    return fs::is_directory(dir / "raw", ignored);
  };
  if (is_dataset(name)) return name;
  if (data::is_generator(name)) return std::nullopt;
  if (fs::path(name).is_absolute() || fs::exists(name, ignored))
    return name;  // reading it tells what is wrong
  const fs::path kept(session.data_dir);
  if (is_dataset(kept / name)) return kept / name;
  if (const data::KnownDataset* known = data::find_known(name)) {
    if (is_dataset(kept / known->name)) return kept / known->name;
    for (const auto folder : known->folders)
      if (is_dataset(kept / folder)) return kept / folder;
    fail(ErrorKind::kData, "dataset {} is not in {}; \"egc data fetch {}\" downloads it", name,
         session.data_dir, known->name);
  }
  // What looks like a path is one.
  if (const fs::path path(name); path.has_parent_path() || path.has_extension())
    fail(ErrorKind::kData, "{}: no such file or dataset directory", name);
  std::vector<std::string_view> known;
  for (const auto& d : data::known_datasets()) known.emplace_back(d.name);
  for (const auto& g : data::generators()) known.emplace_back(g.name);
  fail(ErrorKind::kData, "unknown dataset \"{}\"{}; there is no such directory, here or in {}",
       name, spell_known(name, known), session.data_dir);
}

data::Dataset load_dataset(const std::string& name, const Session& session, bool cache) {
  check_data(!data::is_parts_directory(name),
             "{} is a partitioned dataset, which only egc launch -- train reads; this command "
             "needs the whole dataset",
             name);
  if (name == kPapersOfMag) return data::only_target_type(load_dataset("mag", session, cache));
  if (const auto dir = dataset_directory(name, session))
    return data::read_dataset(*dir, {.cache = cache});
  return data::generate(name, {.seed = session.seed, .size = 1});
}

}  // namespace egc::app
