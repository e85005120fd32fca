// What is wrong with a command line, in one sentence.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace egc::cli {

// With the nearest command or flag where a word is unknown.
std::string explain_parse_error(const CLI::App& app, const CLI::ParseError& error);

}  // namespace egc::cli
