#include "cli/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/command.h"
#include "cli/commands.h"
#include "options/table_files.h"

namespace dragoman {
namespace {

constexpr std::string_view own_words = "help --help --version";

// "--beam-size", "-b" and aliases of an option; a positional one has none.
std::vector<std::string> spellings(const Option& option) {
  if (option.positional) return {};
  std::vector<std::string> names{fmt::format("--{}", option.name)};
  if (!option.alias.empty()) names.push_back(fmt::format("--{}", option.alias));
  if (option.letter) names.push_back(fmt::format("-{}", option.letter));
  return names;
}

// "a, b" as "a b".
std::string choice_words(const Option& option) {
  std::string words;
  for (const char c : option.choices)
    if (c != ',') words += c;
  return words;
}

std::string replaced(std::string_view text, char from, std::string_view to) {
  std::string out;
  for (const char c : text) c == from ? out.append(to) : out.append(1, c);
  return out;
}

std::string names_of(const std::vector<Command>& commands) {
  std::vector<std::string_view> names;
  for (const Command& command : commands) names.push_back(command.about.name);
  return fmt::format("{}", fmt::join(names, " "));
}

// ---- bash: words after an option belong to it until the next option; without fixed choices, complete files.

std::string bash_command(const Command& command) {
  std::string options, values;
  for (const Option& option : command.options()) {
    const auto names = spellings(option);
    options += fmt::format("{}{}", options.empty() || names.empty() ? "" : " ", fmt::join(names, " "));
    if (option.choices.empty()) continue;
    const std::string words = fmt::format("words='{}'", choice_words(option));
    values += option.positional ? fmt::format("        '') if ((COMP_CWORD == 2)); then {}; fi ;;\n", words)
                                : fmt::format("        {}) {} ;;\n", fmt::join(names, "|"), words);
  }
  std::string text = fmt::format("    {})\n      options='{}'\n", command.about.name, options);
  if (!values.empty()) text += fmt::format("      case $option in\n{}      esac\n", values);
  return text + "      ;;\n";
}

std::string bash_script(const std::vector<Command>& commands) {
  std::string text =
      "# bash completion for dragoman; in ~/.bashrc: source <(dragoman completion bash)\n"
      "_dragoman() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} option='' options='' words='' i\n"
      "  COMPREPLY=()\n"
      "  for ((i = 2; i < COMP_CWORD; ++i)); do\n"
      "    if [[ ${COMP_WORDS[i]} == -?* ]]; then option=${COMP_WORDS[i]}; fi\n"
      "  done\n"
      "  if ((COMP_CWORD == 1)); then\n";
  text += fmt::format("    words='{} {}'\n  else\n    case ${{COMP_WORDS[1]}} in\n", names_of(commands), own_words);
  text += fmt::format("    help) words='{}' ;;\n", names_of(commands));
  for (const Command& command : commands) text += bash_command(command);
  return text +
         "    esac\n"
         "  fi\n"
         "  if [[ $word == -* && -n $options ]]; then words=$options; fi\n"
         "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
         "}\n"
         "complete -o default -F _dragoman dragoman\n";
}

// ---- zsh: specifications of _arguments. Words after a list option belong to it until the next option.

std::string zsh_text(std::string_view text) {
  std::string out = replaced(replaced(text, '\\', "\\\\"), '\'', "'\\''");
  for (const char special : {'[', ']', ':'}) out = replaced(out, special, fmt::format("\\{}", special));
  return out;
}

std::string zsh_values(const Option& option) {
  if (!option.choices.empty()) return fmt::format("({})", choice_words(option));
  return option.takes_files() ? "_files" : " ";
}

std::string zsh_option(const Option& option) {
  if (option.positional)
    return fmt::format("'{}:{}:{}'", option.list ? "*" : "", zsh_text(option.value), zsh_values(option));
  std::string tail = fmt::format("[{}]", zsh_text(option.help));
  if (!option.boolean) {
    const char* kind = option.list ? ":*-*:" : option.implicit.empty() ? ":" : "::";
    tail += fmt::format("{}{}:{}", kind, zsh_text(option.value), zsh_values(option));
  }
  std::vector<std::string> specs;
  for (const auto& name : spellings(option)) specs.push_back(fmt::format("'{}{}'", name, tail));
  return fmt::format("{}", fmt::join(specs, " \\\n        "));
}

std::string zsh_script(const std::vector<Command>& commands) {
  std::string text =
      "#compdef dragoman\n"
      "# zsh completion for dragoman; in ~/.zshrc, after compinit: source <(dragoman completion zsh)\n"
      "_dragoman() {\n"
      "  local -a commands\n"
      "  commands=(\n";
  for (const Command& command : commands)
    text += fmt::format("    '{}:{}'\n", command.about.name, zsh_text(command.about.summary));
  text +=
      "    'help:explain a command'\n"
      "  )\n"
      "  if ((CURRENT == 2)); then\n"
      "    _describe command commands\n"
      "    return\n"
      "  fi\n"
      "  local command=$words[2]\n"
      "  shift words\n"
      "  ((CURRENT--))\n"
      "  case $command in\n";
  text += fmt::format("    help) _values command {} ;;\n", names_of(commands));
  for (const Command& command : commands) {
    text += fmt::format("    {})\n      _arguments", command.about.name);
    for (const Option& option : command.options()) text += fmt::format(" \\\n        {}", zsh_option(option));
    text += "\n      ;;\n";
  }
  return text +
         "  esac\n"
         "}\n"
         "if [[ $funcstack[1] == _dragoman ]]; then _dragoman \"$@\"; else compdef _dragoman dragoman; fi\n";
}

// ---- fish: one `complete` per word. The command is the second word alone: __fish_seen_subcommand_from takes any word.

std::string fish_text(std::string_view text) {
  return fmt::format("'{}'", replaced(replaced(text, '\\', "\\\\"), '\'', "\\'"));
}

std::string fish_option(std::string_view command, const Option& option) {
  std::string text = fmt::format("complete -c dragoman -n '__dragoman_command {}'", command);
  const bool choices = !option.choices.empty() && !option.boolean;
  if (option.positional) return choices ? text + fmt::format(" -f -a {}\n", fish_text(choice_words(option))) : "";
  text += fmt::format(" -l {}", option.name);
  if (!option.alias.empty()) text += fmt::format(" -l {}", option.alias);
  if (option.letter) text += fmt::format(" -s {}", option.letter);
  if (choices)
    text += fmt::format(" -x -a {}", fish_text(choice_words(option)));
  else if (!option.boolean && option.implicit.empty())
    text += option.takes_files() ? " -r -F" : " -x";
  return text + fmt::format(" -d {}\n", fish_text(option.help));
}

std::string fish_script(const std::vector<Command>& commands) {
  std::string text =
      "# fish completion for dragoman: dragoman completion fish > ~/.config/fish/completions/dragoman.fish\n"
      "function __dragoman_command\n"
      "  set -l words (commandline -opc)\n"
      "  test \"$words[2]\" = $argv[1]\n"
      "end\n";
  for (const Command& command : commands)
    text += fmt::format("complete -c dragoman -n __fish_use_subcommand -f -a {} -d {}\n", command.about.name,
                        fish_text(command.about.summary));
  text += "complete -c dragoman -n __fish_use_subcommand -f -a help -d 'explain a command'\n";
  text += "complete -c dragoman -n __fish_use_subcommand -l version -d 'print the version and exit'\n";
  text += fmt::format("complete -c dragoman -n '__dragoman_command help' -f -a '{}'\n", names_of(commands));
  for (const Command& command : commands)
    for (const Option& option : command.options()) text += fish_option(command.about.name, option);
  return text;
}

}  // namespace

std::string completion_script(Shell shell, const std::vector<Command>& commands) {
  switch (shell) {
    case Shell::bash:
      return bash_script(commands);
    case Shell::zsh:
      return zsh_script(commands);
    case Shell::fish:
      break;
  }
  return fish_script(commands);
}

Table<CompletionOptions> completion_table() {
  using O = CompletionOptions;
  return {.about = {.name = "completion",
                    .summary = "print a shell completion script",
                    .usage = "bash | zsh | fish",
                    .text = "Prints a completion script for the shell: `source <(dragoman completion bash)`. "
                            "Installing dragoman installs it as well."},
          .flags = {{.name = "shell",
                     .field = &O::shell,
                     .value = "SHELL",
                     .group = "Options",
                     .help = "shell to complete in",
                     .required = true,
                     .positional = true}},
          .files = prints<O>};
}

int completion_command(Engine&, const CompletionOptions& options) {
  print_page(completion_script(options.shell, all_commands()));
  return 0;
}

}  // namespace dragoman
