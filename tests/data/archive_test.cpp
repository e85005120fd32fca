// Archives: what is in them comes out, below the target and nowhere else; the rest is refused.
#include "egc/data/formats/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "tests/core/expect_error.h"
#include "tests/data/dataset_files.h"

namespace egc::data {
namespace {

namespace fs = std::filesystem;
using testing::expect_error;
using Files = std::map<std::string, std::string>;

// One entry; `prepare` may make it something else than a file.
struct Entry {
  std::string name;
  std::string content;
  std::function<void(archive_entry*)> prepare = {};
};

enum class Form { kZip, kStoredZip, kTar, kTarGz, kTarXz, kEncryptedZip };

std::string make_archive(Form form, const std::vector<Entry>& entries) {
  std::string out;
  archive* a = archive_write_new();
  const bool zip = form == Form::kZip || form == Form::kStoredZip || form == Form::kEncryptedZip;
  zip ? archive_write_set_format_zip(a) : archive_write_set_format_gnutar(a);
  if (form == Form::kStoredZip) archive_write_zip_set_compression_store(a);
  if (form == Form::kTarGz) archive_write_add_filter_gzip(a);
  if (form == Form::kTarXz) archive_write_add_filter_xz(a);
  if (form == Form::kEncryptedZip) {
    archive_write_set_options(a, "zip:encryption=zipcrypt");
    archive_write_set_passphrase(a, "secret");
  }
  const auto take = [](archive*, void* to, const void* data, size_t size) -> la_ssize_t {
    static_cast<std::string*>(to)->append(static_cast<const char*>(data), size);
    return static_cast<la_ssize_t>(size);
  };
  archive_write_set_bytes_in_last_block(a, 1);
  EXPECT_EQ(archive_write_open2(a, &out, nullptr, take, nullptr, nullptr), ARCHIVE_OK);
  for (const Entry& e : entries) {
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, e.name.c_str());
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_size(entry, static_cast<la_int64_t>(e.content.size()));
    if (e.prepare) e.prepare(entry);
    EXPECT_GE(archive_write_header(a, entry), ARCHIVE_WARN) << archive_error_string(a);
    if (archive_entry_size(entry) > 0) archive_write_data(a, e.content.data(), e.content.size());
    archive_entry_free(entry);
  }
  EXPECT_EQ(archive_write_close(a), ARCHIVE_OK);
  archive_write_free(a);
  return out;
}

const auto kDirectory = [](archive_entry* e) {
  archive_entry_set_filetype(e, AE_IFDIR);
  archive_entry_set_size(e, 0);
};
std::function<void(archive_entry*)> of_type(unsigned type) {
  return [type](archive_entry* e) {
    archive_entry_set_filetype(e, type);
    archive_entry_set_size(e, 0);
    archive_entry_set_rdev(e, 0x0103);
  };
}
std::function<void(archive_entry*)> symlink_to(const char* to) {
  return [to](archive_entry* e) {
    archive_entry_set_filetype(e, AE_IFLNK);
    archive_entry_set_size(e, 0);
    archive_entry_set_symlink(e, to);
  };
}
std::function<void(archive_entry*)> hardlink_to(const char* to) {
  return [to](archive_entry* e) {
    archive_entry_set_size(e, 0);
    archive_entry_set_hardlink(e, to);
  };
}

// root/box/target is unpacked to; whatever else appears below root was outside.
class Archive : public ::testing::Test {
 protected:
  Archive() : target_(files_.dir() / "target") { fs::create_directories(target_); }

  fs::path put(const std::string& bytes) const {
    files_.write("made.archive", bytes);
    return files_.path("made.archive");
  }
  Files below(const fs::path& dir) const {
    Files out;
    for (const auto& entry : fs::recursive_directory_iterator(dir))
      if (entry.is_regular_file() && !entry.is_symlink())
        out[entry.path().lexically_relative(dir).string()] =
            files_.read(entry.path().lexically_relative(files_.dir()).string());
      else if (!entry.is_directory() || entry.is_symlink())
        ADD_FAILURE() << entry.path() << " is neither a file nor a directory";
    return out;
  }
  void expect_nothing_outside() const {
    for (const auto& entry : fs::directory_iterator(files_.root()))
      EXPECT_EQ(entry.path(), files_.dir());
    for (const auto& entry : fs::directory_iterator(files_.dir()))
      EXPECT_TRUE(entry.path().filename() == "target" || entry.path().filename() == "made.archive")
          << entry.path();
    below(target_);
  }
  void expect_refused(const std::string& bytes, const std::string& reason,
                      const ArchiveLimits& limits = {}) const {
    const fs::path path = put(bytes);
    expect_error(ErrorKind::kData, {path.string(), reason},
                 [&] { unpack_archive(path, target_, limits); });
    expect_nothing_outside();
  }

  testing::DatasetFiles files_{"box"};
  fs::path target_;
};

std::string noise(size_t size) {
  std::string out(size, 0);
  uint32_t state = 1;
  for (char& c : out) c = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  return out;
}

TEST_F(Archive, RoundTrips) {
  const Files want = {{"a.txt", "hello"},
                      {"empty", ""},
                      {"deep/er/b", noise(600'000)},
                      {"dot", "x"},
                      {"sn\xC3\xB6w man", "unicode"},
                      {std::string(180, 'n'), "long name"},
                      {"..a/b..", "dots that lead nowhere"}};
  for (const Form form : {Form::kZip, Form::kStoredZip, Form::kTar, Form::kTarGz, Form::kTarXz}) {
    std::vector<Entry> entries = {{"folder/", "", kDirectory}};
    for (const auto& [name, content] : want)
      entries.push_back({name == "dot" ? "./dot" : name, content});
    const std::string bytes = make_archive(form, entries);
    fs::remove_all(target_);
    fs::create_directories(target_);
    unpack_archive(put(bytes), target_);
    EXPECT_EQ(below(target_), want) << static_cast<int>(form);
    expect_nothing_outside();
    for (const bool memory : {true, false}) {
      Files got;
      const EntryFunction take = [&](const std::string& name, std::string content) {
        got[fs::path(name).lexically_normal().string()] = std::move(content);
      };
      memory ? read_archive(bytes, "memory", take)
             : read_archive(files_.path("made.archive"), take);
      EXPECT_EQ(got, want) << static_cast<int>(form);
    }
  }
}

TEST_F(Archive, EvilNamesAreRefused) {
  const char* names[] = {"../evil",        "a/../../evil",   "/evil",
                         "/tmp/egc_evil",  "a/..",           "..",
                         "..\\evil",       "\\\\host\\evil", "./../evil",
                         "a/./../../evil", "//evil",         "a/b/../../../target2/evil"};
  for (const Form form : {Form::kZip, Form::kTar})
    for (const char* name : names) {
      SCOPED_TRACE(name);
      expect_refused(make_archive(form, {{name, "x"}}), "outside");
    }
  // libarchive itself turns these of a zip into slashes, which then lead nowhere else.
  for (const char* name : {"a\\b", "C:\\evil"})
    expect_refused(make_archive(Form::kTar, {{name, "x"}}), "outside");
  EXPECT_TRUE(below(target_).empty());
  EXPECT_FALSE(fs::exists("/evil") || fs::exists("/tmp/egc_evil"));
}

TEST_F(Archive, NamesThatAreNoFilesAreRefused) {
  for (const char* name : {".", "./", "./."})
    expect_refused(make_archive(Form::kTar, {{name, "x"}}), "");
}

TEST_F(Archive, LinksAndDevicesAreRefused) {
  const char* reason = "links and devices are refused";
  for (const Form form : {Form::kZip, Form::kTar}) {
    expect_refused(make_archive(form, {{"link", "", symlink_to("/etc/passwd")}}), reason);
    expect_refused(make_archive(form, {{"link", "", symlink_to("..")}, {"link/evil", "x"}}),
                   reason);
    expect_refused(make_archive(form, {{"link", "", symlink_to("inside")}}), reason);
  }
  expect_refused(make_archive(Form::kTar, {{"hard", "", hardlink_to("/etc/passwd")}}), reason);
  expect_refused(make_archive(Form::kTar, {{"a", "x"}, {"hard", "", hardlink_to("a")}}), reason);
  for (const unsigned type : {AE_IFCHR, AE_IFBLK, AE_IFIFO})
    expect_refused(make_archive(Form::kTar, {{"device", "", of_type(type)}}), reason);
}

TEST_F(Archive, SameNameTwiceIsRefused) {
  for (const Form form : {Form::kZip, Form::kTar})
    for (const char* second : {"a/b", "./a/b", "a//b", "a/./b"}) {
      fs::remove_all(target_);
      fs::create_directories(target_);
      expect_refused(make_archive(form, {{"a/b", "first"}, {second, "second"}}), "twice");
      EXPECT_EQ(below(target_), (Files{{"a/b", "first"}})) << second;
    }
}

TEST_F(Archive, FileBelowAFileIsAnErrorOfTheArchiveOrTheDisk) {
  const fs::path path = put(make_archive(Form::kTar, {{"a", "x"}, {"a/b", "y"}}));
  EXPECT_THROW(unpack_archive(path, target_), Error);
  EXPECT_EQ(below(target_), (Files{{"a", "x"}}));
}

TEST_F(Archive, ExistingFilesAreKept) {
  files_.write("target/mine", "precious");
  expect_refused(make_archive(Form::kZip, {{"mine", "other"}}), "\"mine\"");
  EXPECT_EQ(below(target_), (Files{{"mine", "precious"}}));
}

TEST_F(Archive, BombsAreRefused) {
  const std::string zeros(10 << 20, '\0');
  // Far more than real data ever shrink, by what the header says of real data.
  for (const Form form : {Form::kZip, Form::kTarGz, Form::kTarXz}) {
    fs::remove_all(target_);
    fs::create_directories(target_);
    const std::string bytes = make_archive(
        form, {{"a", zeros}, {"b", zeros}, {"c", zeros}, {"d", zeros}, {"e", zeros}, {"f", zeros}});
    ASSERT_LT(bytes.size(), 70'000U);
    expect_refused(bytes, "too many for its size");
    expect_error(ErrorKind::kModel, {"too many for its size"}, [&] {
      read_archive(
          bytes, "memory", [](const std::string&, const std::string&) {}, {}, ErrorKind::kModel);
    });
  }
}

TEST_F(Archive, LimitsHoldExactly) {
  const std::string bytes =
      make_archive(Form::kStoredZip, {{"a", noise(1000)}, {"b", noise(1000)}});
  unpack_archive(put(bytes), target_, {.bytes = 2000, .files = 2});
  EXPECT_EQ(below(target_).size(), 2U);
  fs::remove_all(target_);
  fs::create_directories(target_);
  expect_refused(bytes, "more than 1999 bytes", {.bytes = 1999});
  fs::remove_all(target_);
  fs::create_directories(target_);
  expect_refused(bytes, "more than 1 files", {.files = 1});
}

TEST_F(Archive, ArchivesInArchivesAreOnlyFiles) {
  const std::string inner = make_archive(Form::kZip, {{"../evil", "x"}});
  unpack_archive(put(make_archive(Form::kZip, {{"inner.zip", inner}})), target_);
  EXPECT_EQ(below(target_), (Files{{"inner.zip", inner}}));
}

TEST_F(Archive, EncryptedIsRefused) {
  expect_refused(make_archive(Form::kEncryptedZip, {{"secret", "hidden"}}), "encrypted");
  EXPECT_TRUE(below(target_).empty());
}

TEST_F(Archive, OtherFilesAreRefused) {
  for (const std::string& bytes : {std::string("hello"), std::string(2000, 'x'),
                                   std::string("\x1f\x8b rest"), std::string("PK\3\4"),
                                   std::string("\x7f"
                                               "ELF")})
    expect_refused(bytes, "the archive");
  expect_error(ErrorKind::kData, {"none.zip"},
               [&] { unpack_archive(files_.path("none.zip"), target_); });
  expect_error(ErrorKind::kModel, {"memory"}, [&] {
    read_archive(
        "hello", "memory", [](const auto&, const auto&) {}, {}, ErrorKind::kModel);
  });
}

// A cut archive is refused, unless all its contents are there.
TEST_F(Archive, TruncationsAreRefused) {
  const Files want = {{"a", noise(3000)}, {"b", "text"}};
  for (const Form form : {Form::kZip, Form::kStoredZip, Form::kTarGz, Form::kTarXz, Form::kTar}) {
    const std::string bytes = make_archive(form, {{"a", want.at("a")}, {"b", want.at("b")}});
    int refused = 0;
    for (size_t size = 0; size < bytes.size(); size += size < 200 ? 1 : 13) {
      Files got;
      try {
        read_archive(
            std::string_view(bytes).substr(0, size), "cut",
            [&](const std::string& name, std::string content) { got[name] = std::move(content); });
        EXPECT_EQ(got, want) << static_cast<int>(form) << " cut to " << size << " of "
                             << bytes.size();
      } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::kData);
        ++refused;
      }
    }
    EXPECT_GT(refused, 200) << static_cast<int>(form);
  }
}

// Contents of a zip have checksums: a changed byte gives another name or an error, never other
// contents.
TEST_F(Archive, NoChangedByteDoesHarm) {
  const std::string text = noise(300);
  for (const Form form : {Form::kZip, Form::kStoredZip, Form::kTarGz}) {
    const std::string bytes = make_archive(form, {{"name", text}});
    int refused = 0;
    for (size_t at = 0; at < bytes.size(); ++at)
      for (const int flip : {1, 16, 128, 255}) {
        std::string changed = bytes;
        changed[at] = static_cast<char>(changed[at] ^ flip);
        const bool memory = at % 8 != 0;
        try {
          if (memory) {
            read_archive(changed, "changed", [&](const std::string&, const std::string& content) {
              EXPECT_TRUE(form == Form::kTarGz || content == text || content.empty())
                  << "byte " << at << " ^ " << flip << ": " << content.size();
            });
          } else {
            fs::remove_all(target_);
            fs::create_directories(target_);
            unpack_archive(put(changed), target_);
          }
        } catch (const Error& e) {
          EXPECT_TRUE(e.kind() == ErrorKind::kData || e.kind() == ErrorKind::kSystem) << e.what();
          ++refused;
        }
        if (!memory) expect_nothing_outside();
      }
    EXPECT_GT(refused, 100) << static_cast<int>(form);
  }
}

}  // namespace
}  // namespace egc::data
