// The commands as the parser has them, for what is written about them: completion and manual.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

namespace egc::cli {

inline std::vector<const CLI::App*> commands_in(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

// Calls `visit(path, command)` for each command, a group before what is in it; paths are like
// "bench fusion", that of the program is empty.
template <class Visit>
void visit_commands(const CLI::App& app, const Visit& visit, const std::string& path = "") {
  visit(path, app);
  for (const CLI::App* c : commands_in(app))
    visit_commands(*c, visit, path.empty() ? c->get_name() : path + " " + c->get_name());
}

}  // namespace egc::cli
