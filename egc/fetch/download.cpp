#include "egc/fetch/download.h"

#include <curl/curl.h>
#include <openssl/evp.h>
#include <sys/file.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <mutex>

#include "egc/core/error.h"

namespace egc::fetch {
namespace {

namespace fs = std::filesystem;

constexpr curl_off_t kMaxBytes = curl_off_t{20} << 30;
constexpr long kStallSeconds = 30;

struct FileCloser {
  void operator()(FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<FILE, FileCloser>;

struct Transfer {
  File file;
  int64_t resumed = 0;
  int64_t received = 0;
  const Progress* progress = nullptr;
  int write_error = 0;
};

size_t write_block(char* data, size_t size, size_t count, void* context) {
  auto& t = *static_cast<Transfer*>(context);
  t.received += static_cast<int64_t>(size * count);
  if (t.resumed + t.received > kMaxBytes) return 0;  // libcurl stops
  const size_t written = std::fwrite(data, size, count, t.file.get());
  if (written != count) t.write_error = errno;
  return written * size;
}

int show_progress(void* context, curl_off_t total, curl_off_t done, curl_off_t, curl_off_t) {
  const auto& t = *static_cast<Transfer*>(context);
  if (t.progress != nullptr && *t.progress)
    (*t.progress)(t.resumed + done, total > 0 ? t.resumed + total : 0);
  return 0;
}

int64_t size_of(const fs::path& path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  return error ? 0 : static_cast<int64_t>(size);
}

// One attempt. The server's status, or an error of libcurl's.
CURLcode attempt(const std::string& url, const fs::path& part, const Progress& progress,
                 long& status, char* message, int& write_error) {
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
  Transfer t;
  t.progress = &progress;
  t.file.reset(std::fopen(part.c_str(), "ab"));
  if (t.file == nullptr)
    fail(ErrorKind::kSystem, "{}: cannot be created: {}", part.string(), std::strerror(errno));
  if (flock(fileno(t.file.get()), LOCK_EX | LOCK_NB) != 0)
    fail(ErrorKind::kSystem, "{}: another process is downloading it", part.string());
  t.resumed = size_of(part);
  const std::unique_ptr<CURL, void (*)(CURL*)> curl(curl_easy_init(), curl_easy_cleanup);
  if (curl == nullptr) fail(ErrorKind::kSystem, "{}: cannot initialize libcurl", url);
  curl_easy_setopt(curl.get(), CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl.get(), CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl.get(), CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl.get(), CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_MAXREDIRS, 5L);
  curl_easy_setopt(curl.get(), CURLOPT_FAILONERROR, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_CONNECTTIMEOUT, 30L);
  curl_easy_setopt(curl.get(), CURLOPT_LOW_SPEED_LIMIT, 100L);
  curl_easy_setopt(curl.get(), CURLOPT_LOW_SPEED_TIME, kStallSeconds);
  curl_easy_setopt(curl.get(), CURLOPT_MAXFILESIZE_LARGE, kMaxBytes);
  curl_easy_setopt(curl.get(), CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_USERAGENT, "egc");
  curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, write_block);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, &t);
  curl_easy_setopt(curl.get(), CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl.get(), CURLOPT_XFERINFOFUNCTION, show_progress);
  curl_easy_setopt(curl.get(), CURLOPT_XFERINFODATA, &t);
  curl_easy_setopt(curl.get(), CURLOPT_ERRORBUFFER, message);
  if (t.resumed > 0)
    curl_easy_setopt(curl.get(), CURLOPT_RESUME_FROM_LARGE, static_cast<curl_off_t>(t.resumed));
  const CURLcode code = curl_easy_perform(curl.get());
  curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &status);
  if (std::fflush(t.file.get()) != 0 && t.write_error == 0) t.write_error = errno;
  write_error = t.write_error;
  return code;
}

void transfer(const std::string& url, const fs::path& part, const Progress& progress) {
  for (int tries = 0;; ++tries) {
    long status = 0;
    int write_error = 0;
    char message[CURL_ERROR_SIZE] = "";
    const CURLcode code = attempt(url, part, progress, status, message, write_error);
    // libcurl calls it a success when a server has nothing beyond what is here.
    if (code == CURLE_OK && status != 416) return;
    // A server that cannot continue, or has nothing beyond what is here: once more from the start.
    if (tries == 0 && size_of(part) > 0 &&
        (code == CURLE_RANGE_ERROR || status == 416 || code == CURLE_BAD_DOWNLOAD_RESUME)) {
      fs::remove(part);
      continue;
    }
    if (size_of(part) == 0) fs::remove(part);
    if (write_error != 0)
      fail(ErrorKind::kSystem, "{}: cannot be written: {}", part.string(),
           std::strerror(write_error));
    fail(ErrorKind::kSystem, "{}: the download failed: {}", url,
         *message != 0 ? message : curl_easy_strerror(code));
  }
}

}  // namespace

std::string sha256_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(ErrorKind::kSystem, "{}: cannot be opened", path.string());
  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context(EVP_MD_CTX_new(),
                                                                   EVP_MD_CTX_free);
  EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr);
  std::string block(1 << 20, 0);
  while (file.read(block.data(), static_cast<std::streamsize>(block.size())) || file.gcount() > 0)
    EVP_DigestUpdate(context.get(), block.data(), static_cast<size_t>(file.gcount()));
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned length = 0;
  EVP_DigestFinal_ex(context.get(), digest, &length);
  std::string out;
  for (unsigned k = 0; k < length; ++k) out += fmt::format("{:02x}", digest[k]);
  return out;
}

static void check_content(const std::string& url, const fs::path& file, const Expected& expected) {
  std::string wrong;
  if (expected.bytes > 0 && size_of(file) != expected.bytes)
    wrong = fmt::format("it has {} bytes, expected {}", size_of(file), expected.bytes);
  else if (!expected.sha256.empty())
    if (const std::string found = sha256_of(file); found != expected.sha256)
      wrong = fmt::format("its SHA-256 is {}, expected {}", found, expected.sha256);
  if (wrong.empty()) return;
  fs::remove(file);  // the next call begins anew
  fail(ErrorKind::kVerification, "{}: the downloaded file differs from the expected one: {}", url,
       wrong);
}

void download(const std::string& url, const fs::path& to, const Expected& expected,
              const Progress& progress) {
  try {
    if (fs::exists(to)) return check_content(url, to, expected);
    const fs::path part = to.string() + ".part";
    fs::create_directories(to.parent_path());
    if (expected.bytes == 0 || size_of(part) != expected.bytes) transfer(url, part, progress);
    check_content(url, part, expected);
    fs::rename(part, to);
  } catch (const fs::filesystem_error& e) {
    fail(ErrorKind::kSystem, "{}: cannot be written: {}", e.path1().string(), e.code().message());
  }
}

}  // namespace egc::fetch
