#include "cli/explain_parse_error.h"

#include <fmt/format.h>

#include <vector>

#include "egc/core/nearest_name.h"

namespace egc::cli {
namespace {

// The last command that was recognized, and "egc bench fusion" as it was written.
struct ParsedCommand {
  const CLI::App* command;
  std::string path;
  std::vector<const CLI::App*> line;  // from the program to the command
};

ParsedCommand parsed_command(const CLI::App& app) {
  ParsedCommand out{&app, app.get_name(), {&app}};
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

// "--threads: Value 0 not in range 1 to 4096" in our words. What has no entry stays as it is.
std::string reworded(const std::string& text, const std::string& path) {
  const auto colon = text.find(": ");
  const std::string name = text.substr(0, colon);
  const std::string rest = colon == std::string::npos ? "" : text.substr(colon + 2);
  if (text == "A subcommand is required")
    return fmt::format("{} needs a command; {} --help lists the commands", path, path);
  if (name.ends_with(" is required") && rest.empty())
    return fmt::format("{} needs {}; {} --help explains it", path,
                       name.substr(0, name.size() - sizeof " is required" + 1), path);
  if (rest.starts_with("1 required ") && rest.ends_with(" missing"))
    return fmt::format("{} needs a value", name);
  if (const auto at = rest.find(" not in range "); rest.starts_with("Value ") && at < rest.size())
    return fmt::format("{} must be from {}, got {}", name,
                       rest.substr(at + sizeof " not in range " - 1),
                       rest.substr(sizeof "Value", at - sizeof "Value"));
  if (const auto at = rest.find(" not in {"); at != std::string::npos && rest.ends_with("}")) {
    std::string choices = rest.substr(at + sizeof " not in {" - 1);
    choices.pop_back();
    for (size_t k = 0; (k = choices.find(',', k)) != std::string::npos; k += 2)
      choices.replace(k, 1, ", ");
    return fmt::format("{} must be one of {}, got {}", name, choices, rest.substr(0, at));
  }
  return text;
}

}  // namespace

std::string explain_parse_error(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<std::string> unknown = app.remaining(/*recurse=*/true);
  const ParsedCommand u = parsed_command(app);
  if (unknown.empty()) return reworded(error.what(), u.path);
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
