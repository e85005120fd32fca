// Libraries that only some commands need, loaded when one asks.
#pragma once

namespace egc::cli {

// The address of `entry` in `library`, which is looked for along this program's run path. Throws
// kSystem.
void* load_entry(const char* library, const char* entry);

}  // namespace egc::cli
