#include "cli/explain_parse_error.h"

#include <fmt/format.h>

#include <vector>

#include "egc/core/nearest_name.h"

namespace egc::cli {
namespace {

// The last command that was understood, and "egc bench fusion" as it was written.
struct Understood {
  const CLI::App* command;
  std::string path;
  std::vector<const CLI::App*> line;  // from the program to the command
};

Understood understood(const CLI::App& app) {
  Understood out{&app, app.get_name(), {&app}};
  for (auto next = app.get_subcommands(); !next.empty(); next = out.command->get_subcommands()) {
    out.command = next.front();
    out.path += " " + out.command->get_name();
    out.line.push_back(out.command);
  }
  return out;
}

// Without dashes, which would make all flags alike.
std::vector<std::string> flags_of(const std::vector<const CLI::App*>& line) {
  std::vector<std::string> out;
  for (auto app = line.rbegin(); app != line.rend(); ++app)  // the command's own first
    for (const CLI::Option* option : (*app)->get_options())
      for (const std::string& name : option->get_lnames()) out.push_back(name);
  return out;
}

std::vector<std::string> commands_of(const CLI::App& app) {
  std::vector<std::string> out;
  for (const CLI::App* c : app.get_subcommands([](const CLI::App*) { return true; }))
    out.push_back(c->get_name());
  return out;
}

}  // namespace

std::string explain_parse_error(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<std::string> unknown = app.remaining(/*recurse=*/true);
  if (unknown.empty()) return error.what();
  const Understood u = understood(app);
  const std::string word = unknown.front().substr(0, unknown.front().find('='));
  const bool is_flag = word.starts_with("-");
  const std::vector<std::string> known = is_flag ? flags_of(u.line) : commands_of(*u.command);
  const char* what = is_flag ? "flag" : known.empty() ? "argument" : "command";
  const std::string_view dashes = is_flag ? "--" : "";
  const std::string_view nearest =
      nearest_name(std::string_view(word).substr(word.starts_with(dashes) ? dashes.size() : 0),
                   {known.begin(), known.end()});
  const std::string guess =
      nearest.empty() ? ";" : fmt::format("; did you mean \"{}{}\"?", dashes, nearest);
  return fmt::format("unknown {} \"{}\"{} {} --help lists {}", what, word, guess, u.path,
                     known.empty() ? "what it takes" : fmt::format("the {}s", what));
}

}  // namespace egc::cli
