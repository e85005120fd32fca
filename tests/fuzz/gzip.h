// The bytes of a gzip file.
#pragma once

#include <zlib.h>

#include <string>
#include <string_view>

#include "tests/fuzz/fuzz_input.h"

namespace egc::fuzz {

inline std::string gzip(std::string_view text) {
  z_stream stream{};
  // A small window: setting up a large one would take longer than the reader does.
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, 9 + 16, 1, Z_DEFAULT_STRATEGY) != Z_OK)
    finding("zlib fails");
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  if (deflate(&stream, Z_FINISH) != Z_STREAM_END) finding("zlib fails");
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace egc::fuzz
