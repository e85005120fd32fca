#include "egc/fetch/fetch_dataset.h"

#include "egc/core/error.h"
#include "egc/data/build/convert_published.h"
#include "egc/data/formats/archive.h"
#include "egc/data/raw/read_dataset.h"
#include "egc/data/raw/verify.h"
#include "egc/data/raw/write_dataset.h"

namespace egc::fetch {
namespace {

namespace fs = std::filesystem;

// The last part of an address, without its query.
std::string file_name(std::string url) {
  url = url.substr(0, url.find('?'));
  return url.substr(url.rfind('/') + 1);
}

// The one folder below `dir` that holds `wanted`, or `dir` itself.
fs::path folder_with(const fs::path& dir, const fs::path& wanted) {
  if (fs::exists(dir / wanted)) return dir;
  for (const auto& entry : fs::directory_iterator(dir))
    if (entry.is_directory() && fs::exists(entry.path() / wanted)) return entry.path();
  fail(ErrorKind::kData, "{}: the archive does not contain {}", dir.string(), wanted.string());
}

void move_entries(const fs::path& from, const fs::path& to) {
  for (const auto& entry : fs::directory_iterator(from))
    fs::rename(entry.path(), to / entry.path().filename());
}

// Fills `to` from the downloaded files, which lie in `downloads`; `scratch` may be used.
void make_dataset(const data::KnownDataset& known, const fs::path& downloads,
                  const fs::path& scratch, const fs::path& to) {
  for (const data::Download& file : known.downloads) {
    const fs::path path = downloads / file_name(file.url);
    if (path.extension() == ".zip")
      data::unpack_archive(path, scratch);
    else
      fs::copy_file(path, scratch / path.filename());
  }
  switch (known.packing) {
    case data::Packing::kOgbRaw: {
      move_entries(folder_with(scratch, "raw"), to);
      data::write_text_file(to / "dataset.json",
                            to_json(data::parse_info(known.info_json, known.name).info) + "\n");
      return;
    }
    case data::Packing::kZincPickles: {
      const fs::path folder = folder_with(scratch, "train.pickle");
      for (const char* part : {"train", "val", "test"}) {
        const std::string index = fmt::format("{}.index", part);
        if (folder != scratch) fs::rename(scratch / index, folder / index);
      }
      return write_dataset_files(data::convert_zinc(folder), to);
    }
    case data::Packing::kPygTensors:
      return write_dataset_files(
          data::convert_pyg_superpixels(folder_with(scratch, "CIFAR10_v2.pt") / "CIFAR10_v2.pt"),
          to);
  }
}

void check_published(const data::KnownDataset& known, const fs::path& dir) {
  const data::Dataset d = data::read_dataset(dir, {.cache = false});
  const auto differences = differences_from_published(d, known.published);
  if (!differences.empty())
    fail(ErrorKind::kVerification,
         "{}: differs from the published dataset: {}; --no-published-check accepts it", known.name,
         fmt::join(differences, "; "));
}

}  // namespace

fs::path fetch_dataset(const data::KnownDataset& known, const FetchOptions& options) {
  const fs::path dir = options.data_dir / known.name;
  if (fs::is_directory(dir / "raw")) return dir;
  data::check_new_directory(dir);  // before anything is downloaded
  const fs::path downloads = options.data_dir / ".downloads";
  const auto tell = [&](const std::string& what, int64_t done, int64_t total) {
    if (options.progress) options.progress(what, done, total);
  };
  for (const data::Download& file : known.downloads) {
    const std::string name = file_name(file.url);
    std::string url = file.url;
    if (!options.mirror.empty())
      url = options.mirror + (options.mirror.ends_with('/') ? "" : "/") + name;
    download(url, downloads / name, {file.sha256, file.bytes},
             [&](int64_t done, int64_t total) { tell(name, done, total); });
  }
  tell("unpacking", 0, 0);
  const auto remove_downloads = [&] {
    for (const data::Download& file : known.downloads) fs::remove(downloads / file_name(file.url));
  };
  try {
    data::create_directory_whole(dir, [&](const fs::path& to) {
      const fs::path scratch = to / ".unpacked";
      fs::create_directories(scratch);
      make_dataset(known, downloads, scratch, to);
      fs::remove_all(scratch);
      tell("checking", 0, 0);
      if (options.check_published) check_published(known, to);
    });
  } catch (const Error& e) {
    // What is damaged or another dataset must be downloaded anew.
    if (e.kind() == ErrorKind::kData || e.kind() == ErrorKind::kVerification) remove_downloads();
    throw;
  }
  remove_downloads();
  return dir;
}

}  // namespace egc::fetch
