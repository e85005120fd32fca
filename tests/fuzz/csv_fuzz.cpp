// Tables of numbers and of text, as plain files. Three digits choose the reader (table_check.h),
// the rest is the file.
#include "tests/fuzz/table_check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const egc::fuzz::MemoryFile file;
  egc::fuzz::Input input(data, size);
  const egc::fuzz::TableChoice choice(input);
  check_table(file.write(input.rest()), choice);
  return 0;
}
