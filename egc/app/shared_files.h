// Files that come with the program: configurations and tables of the paper.
#pragma once

#include <filesystem>
#include <optional>

namespace egc::app {

// Installed beside the program or the library, or in the source tree that it was built in; `name`
// is relative, for instance configs/zinc/egc-m.json.
std::optional<std::filesystem::path> shared_file(const std::filesystem::path& name);

}  // namespace egc::app
