// Archives (zip, tar, tar.gz, ...) by libarchive. The input is not trusted: no path outside the
// target, no links, no devices, no more bytes or files than allowed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "egc/core/error.h"

namespace egc::data {

struct ArchiveLimits {
  int64_t bytes = int64_t{64} << 30;  // unpacked
  int64_t files = 1'000'000;
  int64_t bytes_per_packed = 200;  // unpacked for every byte of the archive, beyond 32 MB
};

// Unpacks below `to`, which exists. Existing files are not overwritten. Throws kData where the
// archive is damaged or breaks the rules, kSystem where the disk does.
void unpack_archive(const std::filesystem::path& archive, const std::filesystem::path& to,
                    const ArchiveLimits& limits = {});

// Calls f(name, content) for every regular file of an archive in memory or on disk.
using EntryFunction = std::function<void(const std::string& name, std::string content)>;
void read_archive(const std::filesystem::path& archive, const EntryFunction& f,
                  const ArchiveLimits& limits = {}, ErrorKind kind = ErrorKind::kData);
void read_archive(std::string_view bytes, const std::string& where, const EntryFunction& f,
                  const ArchiveLimits& limits = {}, ErrorKind kind = ErrorKind::kData);

}  // namespace egc::data
