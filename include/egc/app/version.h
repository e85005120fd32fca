// The version of the library.
#pragma once

#include <string>

namespace egc::app {

// Version and revision of the sources, as recorded in runs: 0.1.0+909f91c2b0; without the revision
// if it is unknown.
std::string version_with_revision();

}  // namespace egc::app
