// The simplest zip file: contents stored as they are.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace egc::fuzz {

class Zip {
 public:
  void add(std::string_view name, std::string_view content) {
    const auto crc = static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(content.data()),
                                                 static_cast<uInt>(content.size())));
    const auto size = static_cast<uint32_t>(content.size());
    std::string common;                          // of the local header and the directory's entry
    put<uint16_t>(common, {20, 0, 0, 0, 0x21});  // version, flags, stored, time, date
    put<uint32_t>(common, {crc, size, size});
    put<uint16_t>(common, {static_cast<uint16_t>(name.size()), 0});
    const auto at = static_cast<uint32_t>(files_.size());
    files_.append("PK\3\4").append(common).append(name).append(content);
    directory_.append("PK\1\2");
    put<uint16_t>(directory_, {20});
    directory_.append(common);
    put<uint16_t>(directory_, {0, 0, 0});  // comment, disk, attributes
    put<uint32_t>(directory_, {0, at});
    directory_.append(name);
    ++count_;
  }

  std::string finish() {
    const auto at = static_cast<uint32_t>(files_.size());
    files_.append(directory_).append("PK\5\6");
    put<uint16_t>(files_, {0, 0, count_, count_});
    put<uint32_t>(files_, {static_cast<uint32_t>(directory_.size()), at});
    put<uint16_t>(files_, {0});
    return std::move(files_);
  }

 private:
  template <class T>
  static void put(std::string& to, std::initializer_list<T> values) {
    for (const T value : values) to.append(reinterpret_cast<const char*>(&value), sizeof(T));
  }

  std::string files_;
  std::string directory_;
  uint16_t count_ = 0;
};

}  // namespace egc::fuzz
