// Tables behind gzip. The first digit: 0, the bytes are a gzip file; 1, they are packed into one.
// Then as csv_fuzz.cpp.
#include "tests/fuzz/gzip.h"
#include "tests/fuzz/table_check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const egc::fuzz::MemoryFile file;
  egc::fuzz::Input input(data, size);
  const bool pack = input.choose(2) == 1;
  const egc::fuzz::TableChoice choice(input);
  check_table(pack ? file.write(egc::fuzz::gzip(input.rest())) : file.write(input.rest()), choice);
  return 0;
}
