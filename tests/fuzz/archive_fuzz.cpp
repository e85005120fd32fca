// Archives. The first digit: 0, read from memory; 1, unpacked; 2 and 3, the same after all blocks
// of 512 bytes were given the checksum of a tar header, without which no change would get through.
// Nothing may appear outside the target directory.
#include "egc/data/formats/archive.h"

#include "tests/fuzz/fuzz_input.h"

namespace {

namespace fs = std::filesystem;
using egc::ErrorKind;
using egc::fuzz::expect;

std::string with_tar_checksums(std::string bytes) {
  constexpr size_t kBlock = 512;
  constexpr size_t kSum = 148;  // six octal digits, NUL, blank; counted as blanks
  for (size_t at = 0; at + kBlock <= bytes.size(); at += kBlock) {
    if (bytes.compare(at + 257, 5, "ustar") != 0) continue;
    bytes.replace(at + kSum, 8, 8, ' ');
    unsigned sum = 0;
    for (size_t k = 0; k < kBlock; ++k) sum += static_cast<unsigned char>(bytes[at + k]);
    bytes.replace(at + kSum, 7, fmt::format("{:06o}", sum) + '\0');
  }
  return bytes;
}

int64_t count_files(const fs::path& dir) {
  int64_t count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(dir)) {
    expect(!entry.is_symlink(), "a link: {}", entry.path().string());
    count += entry.is_regular_file();
  }
  return count;
}

// Reads from memory; the number of regular files, or -1 where it is refused.
int64_t read(const std::string& bytes) {
  int64_t files = 0;
  const bool fine = egc::fuzz::throws_only({ErrorKind::kModel}, [&] {
    egc::data::read_archive(
        bytes, "x", [&](const std::string&, std::string) { ++files; }, {}, ErrorKind::kModel);
  });
  return fine ? files : -1;
}

// Into around/a/b/target, where ".." and "../.." would be seen. A path elsewhere would make the
// number of files too small.
void unpack(const std::string& bytes, int64_t files) {
  static const egc::fuzz::ScratchDirectory around;
  static const egc::fuzz::MemoryFile file;
  const fs::path target = around.path() / "a" / "b" / "target";
  fs::create_directories(target);
  const bool fine = egc::fuzz::throws_only(
      {ErrorKind::kData}, [&] { egc::data::unpack_archive(file.write(bytes), target); });
  const int64_t found = count_files(target);
  expect(count_files(around.path()) == found, "a file outside the target");
  for (fs::path dir = target; dir != around.path(); dir = dir.parent_path())
    expect(std::distance(fs::directory_iterator(dir.parent_path()), {}) == 1, "more beside {}",
           dir.string());
  expect(!fine || found == files, "{} files of {} are in the target", found, files);
  fs::remove_all(around.path() / "a");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  egc::fuzz::Input input(data, size);
  const size_t mode = input.choose(4);
  const std::string bytes = mode >= 2 ? with_tar_checksums(input.text()) : input.text();
  const int64_t files = read(bytes);
  if (mode % 2 == 1) unpack(bytes, files);
  return 0;
}
