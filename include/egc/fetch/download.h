// Downloads, resumable and verified, by libcurl.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace egc::fetch {

// What is known of a file in advance.
struct Expected {
  std::string sha256;  // hexadecimal; empty: unknown
  int64_t bytes = 0;   // size; 0: unknown
};

// Called during a download with bytes so far; total is 0 while unknown.
using Progress = std::function<void(int64_t done, int64_t total)>;

// Downloads a file over http or https, also after redirects. An interrupted download continues from
// `to`.part; the file gets its name when it is complete and verified. Throws kSystem where server
// or disk fail, kVerification where the content differs.
void download(const std::string& url, const std::filesystem::path& to, const Expected& expected,
              const Progress& progress = {});

std::string sha256_of(const std::filesystem::path& path);  // of a file, hexadecimal

}  // namespace egc::fetch
