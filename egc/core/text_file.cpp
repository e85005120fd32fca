#include "egc/core/text_file.h"

#include <fstream>
#include <sstream>

namespace egc {

std::string read_text_file(const std::string& path, ErrorKind kind) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  if (!file) fail(kind, "{}: cannot open the file", path);
  return text.str();
}

}  // namespace egc
