// Stands in for download.cpp in a build without libcurl and OpenSSL.
#include "egc/core/error.h"
#include "egc/fetch/download.h"

namespace egc::fetch {
namespace {

[[noreturn]] void no_curl() {
  fail(ErrorKind::kUsage,
       "cannot download: this egc was built without libcurl and OpenSSL; install "
       "libcurl4-openssl-dev and rebuild");
}

}  // namespace

void download(const std::string&, const std::filesystem::path&, const Expected&, const Progress&) {
  no_curl();
}
std::string sha256_of(const std::filesystem::path&) { no_curl(); }

}  // namespace egc::fetch
