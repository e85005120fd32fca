// Settings of calls that read datasets.
#pragma once

#include <cstdint>

#include "egc/app/session.h"

namespace egc::c_api {

// data_dir: NULL: the default.
app::Session session_of(const char* data_dir, uint64_t seed);

}  // namespace egc::c_api
