// egc man: the manual page, from the same descriptions as --help.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/common.h"
#include "cli/manual/command_tree.h"

namespace egc::cli {
namespace {

// Text as roff takes it: backslashes and dashes escaped, no line that looks like a request.
std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) out += "\\&";
      out += c;
    }
  }
  return out;
}

// "-n, --ranks INT"; of an argument its name.
std::string names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  if (names.empty()) return option.get_name();
  const bool takes_value = option.get_items_expected_max() > 0;
  return fmt::format("{}{}", fmt::join(names, ", "),
                     takes_value ? " " + option.get_type_name() : "");
}

std::string describe(const CLI::App& app) {
  std::string out;
  for (const CLI::Option* option : app.get_options()) {
    // Of every command, so it is said once.
    if (option == app.get_help_ptr() && app.get_parent() != nullptr) continue;
    const std::string standard = option->get_default_str();
    out +=
        fmt::format(".TP\n.B {}\n{}{}\n", roff(names_of(*option)), roff(option->get_description()),
                    standard.empty() ? "" : roff(" (default: " + standard + ")"));
  }
  return out;
}

// "Example:\n  egc ..." as a paragraph whose lines stay as they are.
std::string example(const CLI::App& app) {
  const std::string text = app.get_footer();
  return text.empty() ? "" : fmt::format(".PP\n.nf\n{}\n.fi\n", roff(text));
}

std::string man_page(const CLI::App& program) {
  std::string out = fmt::format(".TH EGC 1 \"\" \"egc {}\" \"User Commands\"\n", EGC_VERSION);
  out += fmt::format(
      ".SH NAME\negc \\- graph neural networks built around the Efficient Graph "
      "Convolution\n.SH SYNOPSIS\n.B egc\n.I COMMAND\n[\n.I OPTIONS\n]\n");
  out += ".SH GLOBAL OPTIONS\n" + describe(program);
  out += ".SH COMMANDS\n";
  visit_commands(program, [&](const std::string& path, const CLI::App& command) {
    if (path.empty()) return;
    out += fmt::format(".SS egc {}\n{}.\n", roff(path), roff(command.get_description()));
    if (commands_in(command).empty()) out += describe(command) + example(command);
  });
  out += ".SH EXIT STATUS\n";
  for (const auto& [code, meaning] :
       {std::pair{"0", "Success."},
        {"2", "Invalid command line or configuration."},
        {"3", "Invalid dataset or other input."},
        {"4", "Invalid model file or checkpoint."},
        {"5", "System error: file, memory or network."},
        {"6", "Invalid result, for instance a NaN loss."},
        {"130", "Interrupted; rerun the command, or use --resume, to continue."}})
    out += fmt::format(".TP\n.B {}\n{}\n", code, roff(meaning));
  out +=
      ".SH ENVIRONMENT\n.TP\n.B EGC_DATA\nDirectory of the datasets, unless \\-\\-data\\-dir is "
      "given.\n.TP\n.B NO_COLOR\nIf set to anything: no colours and no progress bar.\n";
  return out;
}

}  // namespace

void add_man(CLI::App& app) {
  CLI::App* c = app.add_subcommand("man", "Print the manual page");
  c->footer("Example:\n  egc man | man -l -");
  c->callback([&app] { fmt::print("{}", man_page(app)); });
}

}  // namespace egc::cli
