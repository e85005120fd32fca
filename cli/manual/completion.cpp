// egc completion bash: a script that completes commands, flags, models and datasets.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/common.h"
#include "cli/manual/command_tree.h"
#include "egc/data/dataset_table.h"
#include "egc/data/generate/generators.h"
#include "egc/nn/conv_table.h"

namespace egc::cli {
namespace {

constexpr const char* kBegin = R"(# Completion of egc for bash: source <(egc completion bash)
_egc() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} path='' words='' k
  for ((k = 1; k < COMP_CWORD; ++k)); do
    case "${path:+$path }${COMP_WORDS[k]}" in
)";

// Files are completed where nothing else fits.
constexpr const char* kEnd = R"(  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _egc egc
)";

// What may stand after a command: what is in it, its flags and those of every command, datasets.
std::string words_of(const CLI::App& command, const CLI::App& program) {
  std::vector<std::string> words;
  for (const CLI::App* c : commands_in(command)) words.push_back(c->get_name());
  const auto add_flags = [&](const CLI::App& app) {
    for (const CLI::Option* option : app.get_options())
      for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
  };
  add_flags(command);
  if (&command != &program) add_flags(program);
  for (const CLI::Option* option : command.get_options())
    if (option->get_positional() && option->get_name() == "dataset") {
      for (const auto& known : data::known_datasets()) words.emplace_back(known.name);
      for (const auto& generator : data::generators()) words.emplace_back(generator.name);
    }
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return fmt::format("{}", fmt::join(words, " "));
}

std::string bash_completion(const CLI::App& program) {
  std::vector<std::string> paths;
  std::string cases;
  visit_commands(program, [&](const std::string& path, const CLI::App& command) {
    if (!path.empty()) paths.push_back(fmt::format("'{}'", path));
    cases += fmt::format("    '{}') words='{}' ;;\n", path, words_of(command, program));
  });
  std::vector<std::string_view> models;
  for (const nn::LayerDescriptor& layer : nn::layer_table()) models.push_back(layer.name);
  std::string out = kBegin;
  out += fmt::format("      {}) path=\"${{path:+$path }}${{COMP_WORDS[k]}}\" ;;\n",
                     fmt::join(paths, "|"));
  out += "    esac\n  done\n  case $path in\n" + cases + "  esac\n";
  out += fmt::format("  case $previous in\n    --model) words='{}' ;;\n", fmt::join(models, " "));
  return out + kEnd;
}

}  // namespace

void add_completion(CLI::App& app) {
  CLI::App* c = app.add_subcommand("completion", "Print a shell completion script");
  c->require_subcommand(1);
  c->fallthrough();
  c->footer("Example:\n  egc completion bash > ~/.local/share/bash-completion/completions/egc");
  CLI::App* bash =
      c->add_subcommand("bash", "Completion for bash: commands, flags, models and datasets");
  bash->footer("Example:\n  source <(egc completion bash)");
  bash->callback([&app] { fmt::print("{}", bash_completion(app)); });
}

}  // namespace egc::cli
