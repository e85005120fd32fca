#pragma once

#include <string>

#include "egc/core/error.h"

namespace egc {

// The whole of a file; throws `kind` where it cannot be opened.
std::string read_text_file(const std::string& path, ErrorKind kind);

}  // namespace egc
