// One file from a web server, resumable and checked. By libcurl.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace egc::fetch {

struct Expected {
  std::string sha256;  // hexadecimal; empty: not known
  int64_t bytes = 0;   // 0: not known
};

// total is 0 while it is not known.
using Progress = std::function<void(int64_t done, int64_t total)>;

// Downloads to `to`. What an interrupted call left in `to`.part is continued. The file appears
// under its name only when it is whole and as expected. Only http and https, also after redirects.
// Throws kSystem where the server or the disk fails, kVerification where the content is another.
void download(const std::string& url, const std::filesystem::path& to, const Expected& expected,
              const Progress& progress = {});

std::string sha256_of(const std::filesystem::path& path);

}  // namespace egc::fetch
