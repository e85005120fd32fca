// Which program this is.
#pragma once

#include <string>

namespace egc::app {

// For records: 0.1.0+909f91c2b0, the revision of the sources behind the plus sign; without it where
// they were no checkout.
std::string version_with_revision();

}  // namespace egc::app
