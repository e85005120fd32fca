// A directory that belongs to what was begun in it, which a file there tells.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace egc {

// With those above it; throws kSystem.
void make_directories(const std::filesystem::path& path);

// Writes the file, and its directories, where there is none. Throws kUsage with `refusal` where one
// says something else.
void claim_file(const std::filesystem::path& path, std::string_view text,
                const std::string& refusal);

}  // namespace egc
