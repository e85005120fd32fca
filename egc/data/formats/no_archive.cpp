// Stands in for archive.cpp in a build without libarchive.
#include "egc/data/formats/archive.h"

namespace egc::data {
namespace {

[[noreturn]] void no_libarchive(const std::string& where) {
  fail(ErrorKind::kUsage,
       "{}: cannot read archives: this egc was built without libarchive; install libarchive-dev "
       "and rebuild",
       where);
}

}  // namespace

void unpack_archive(const std::filesystem::path& archive, const std::filesystem::path&,
                    const ArchiveLimits&) {
  no_libarchive(archive.string());
}
void read_archive(const std::filesystem::path& archive, const EntryFunction&, const ArchiveLimits&,
                  ErrorKind) {
  no_libarchive(archive.string());
}
void read_archive(std::string_view, const std::string& where, const EntryFunction&,
                  const ArchiveLimits&, ErrorKind) {
  no_libarchive(where);
}

}  // namespace egc::data
