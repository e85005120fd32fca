#include "egc/images/build_images.h"

#include <algorithm>
#include <fstream>

#include "egc/core/error.h"
#include "egc/core/parallel.h"
#include "egc/data/splits.h"

namespace egc::images {
namespace {

namespace fs = std::filesystem;

// One image to be: from a file of its own, or a record of a CIFAR batch.
struct Source {
  fs::path path;
  int64_t record = -1;
  int32_t label = 0;
};

constexpr int kCifarSide = 32;
constexpr int64_t kCifarPixels = kCifarSide * kCifarSide;
constexpr int64_t kCifarRecord = 1 + 3 * kCifarPixels;  // a label, then planes of red, green, blue

std::vector<fs::path> sorted_entries(const fs::path& dir, bool directories) {
  std::vector<fs::path> out;
  for (const auto& entry : fs::directory_iterator(dir))
    if ((directories ? entry.is_directory() : entry.is_regular_file()) &&
        !entry.path().filename().string().starts_with("."))
      out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

void add_cifar_batch(const fs::path& path, std::vector<Source>& to) {
  const auto bytes = static_cast<int64_t>(fs::file_size(path));
  check_data(bytes > 0 && bytes % kCifarRecord == 0,
             "{}: expected CIFAR-10 records of {} bytes, found {} bytes", path.string(),
             kCifarRecord, bytes);
  for (int64_t k = 0; k < bytes / kCifarRecord; ++k) to.push_back({path, k, 0});
}

// A folder for each class; classes in the order of their names.
void add_folders(const fs::path& dir, std::vector<std::string>& classes, std::vector<Source>& to) {
  for (const fs::path& folder : sorted_entries(dir, /*directories=*/true)) {
    const std::string name = folder.filename().string();
    auto it = std::find(classes.begin(), classes.end(), name);
    if (it == classes.end()) it = classes.insert(classes.end(), name);
    for (const fs::path& path : sorted_entries(folder, /*directories=*/false))
      to.push_back({path, -1, static_cast<int32_t>(it - classes.begin())});
  }
}

Image read_cifar_record(const Source& source, int32_t& label) {
  std::ifstream file(source.path, std::ios::binary);
  file.seekg(source.record * kCifarRecord);
  std::vector<char> bytes(kCifarRecord);
  file.read(bytes.data(), kCifarRecord);
  check_data(static_cast<bool>(file), "{}: record {} cannot be read", source.path.string(),
             source.record);
  label = static_cast<unsigned char>(bytes[0]);
  check_data(label < 10, "{}: record {}: expected a class in [0, 10), got {}", source.path.string(),
             source.record, label);
  Image out{std::vector<uint8_t>(3 * kCifarPixels), kCifarSide, kCifarSide};
  for (int64_t p = 0; p < kCifarPixels; ++p)
    for (int64_t c = 0; c < 3; ++c)
      out.rgb[3 * p + c] = static_cast<uint8_t>(bytes[1 + c * kCifarPixels + p]);
  return out;
}

data::GraphRecord make_graph(const Source& source, int64_t most) {
  int32_t label = source.label;
  const Image image =
      source.record >= 0 ? read_cifar_record(source, label) : read_image(source.path);
  data::GraphRecord g = superpixel_graph(image.rgb, image.height, image.width, most);
  g.classes = {label};
  return g;
}

}  // namespace

data::Dataset build_images(const ImageOptions& options) {
  check_data(fs::is_directory(options.from), "{}: expected a directory of images",
             options.from.string());
  std::vector<Source> train;
  std::vector<Source> test;
  std::vector<std::string> classes;
  int64_t valid = options.valid;
  const bool cifar = fs::exists(options.from / "data_batch_1.bin");
  if (cifar) {
    for (int k = 1; k <= 5; ++k)
      if (const fs::path path = options.from / fmt::format("data_batch_{}.bin", k);
          fs::exists(path))
        add_cifar_batch(path, train);
    if (fs::exists(options.from / "test_batch.bin"))
      add_cifar_batch(options.from / "test_batch.bin", test);
    if (valid < 0 && train.size() == 50000) valid = 5000;
  } else if (fs::is_directory(options.from / "train") && fs::is_directory(options.from / "test")) {
    add_folders(options.from / "train", classes, train);
    add_folders(options.from / "test", classes, test);
  } else {
    add_folders(options.from, classes, train);
  }
  check_data(!train.empty(),
             "{}: expected CIFAR-10's data_batch_1.bin, or one folder of images per class, "
             "directly or in train/ and test/",
             options.from.string());

  std::vector<Source> all = train;
  all.insert(all.end(), test.begin(), test.end());
  std::vector<data::GraphRecord> graphs(all.size());
  ProgressCounter progress(options.on_progress, std::ssize(all));
  parallel_tasks(std::ssize(all), [&](int64_t k) {
    graphs[k] = make_graph(all[k], options.superpixels);
    progress.add(1);
  });
  data::DatasetBuilder builder({.node = 5});
  for (data::GraphRecord& g : graphs) {
    builder.add(g);
    g = {};
  }
  data::Dataset d = builder.finish();
  d.info.name = options.name;
  d.info.task = Task::kGraphClassification;
  d.info.metric = data::Metric::kAccuracy;
  d.info.class_names = classes;
  d.info.num_classes = cifar ? 10 : static_cast<int64_t>(classes.size());
  if (test.empty()) {
    d.splits = {
        data::random_split(static_cast<int64_t>(train.size()), options.fractions, options.seed)};
  } else {
    const auto count = static_cast<int64_t>(train.size());
    const data::Split whole =
        data::ranges_split("images", count, 0, static_cast<int64_t>(test.size()));
    const double fraction =
        valid < 0 ? 0.1 : static_cast<double>(valid) / static_cast<double>(count);
    d.splits = {fraction > 0 && count > 1 ? data::cut_valid(whole, fraction, options.seed) : whole};
  }
  check_dataset(d, options.from.string());
  return d;
}

}  // namespace egc::images
