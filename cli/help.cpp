#include "cli/help.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "cli/command.h"
#include "options/foreign.h"

namespace dragoman {
namespace {

constexpr size_t page_width = 90, help_column = 32;

// Wraps `text` at page_width; lines after the first are indented to `column`.
std::string wrapped(std::string_view text, size_t column) {
  std::string page;
  size_t used = column;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (used > column && used + 1 + word.size() > page_width) {
      page.append(1, '\n').append(column, ' ');
      used = column;
    }
    if (used > column) page += ' ', ++used;
    page += word;
    used += word.size();
  }
  return page;
}

std::string default_of(const Option& option) {
  std::string text = fmt::format("{}", fmt::join(option.standard, " "));
  return option.required || (option.boolean && text == "false") ? "" : text;
}

std::string line_of(const Option& option) {
  const std::string left = fmt::format("  {}{}", option.letter || option.positional ? "" : "    ", signature(option));
  const bool fits = left.size() + 2 <= help_column;
  const std::string gap = fits ? std::string(help_column - left.size(), ' ') : "\n" + std::string(help_column, ' ');
  return left + gap + wrapped(notes(option), help_column) + "\n";
}

// The groups in the order of the table.
std::vector<std::string_view> groups_of(const std::vector<Option>& options) {
  std::vector<std::string_view> groups;
  for (const Option& option : options)
    if (std::find(groups.begin(), groups.end(), option.group) == groups.end()) groups.push_back(option.group);
  return groups;
}

std::string heading(const About& about) {
  return fmt::format("usage: dragoman {} {}\n\n{}\n", about.name, about.usage, wrapped(about.text, 0));
}

std::string groups_page(const std::vector<Option>& options) {
  std::string page;
  for (const std::string_view group : groups_of(options)) {
    page += fmt::format("\n{}:\n", group);
    for (const Option& option : options)
      if (option.group == group) page += line_of(option);
  }
  return page;
}

// In a table of Markdown a bar would end the cell.
std::string cell(std::string_view text) {
  std::string escaped;
  for (char c : text) escaped.append(c == '|' ? "\\|" : std::string(1, c));
  return escaped;
}

std::string row_of(const Option& option) {
  std::string meaning(option.help);
  if (!option.choices.empty()) meaning += fmt::format(" [{}]", option.choices);
  if (!option.alias.empty()) meaning += fmt::format("; also `--{}`", option.alias);
  const std::string standard = default_of(option);
  const std::string shown = option.required ? "required" : standard.empty() ? "" : fmt::format("`{}`", standard);
  return fmt::format("| `{}` | {} | {} |\n", cell(signature(option)), shown, cell(meaning));
}

}  // namespace

std::string signature(const Option& option) {
  std::string text = option.letter ? fmt::format("-{}, ", option.letter) : "";
  if (option.positional) return fmt::format("{}", option.value);
  text += fmt::format("--{}", option.name);
  if (option.value.empty()) return text;
  return text + (option.implicit.empty() ? fmt::format(" {}", option.value) : fmt::format(" [{}]", option.value));
}

std::string notes(const Option& option) {
  std::string text(option.help);
  if (!option.choices.empty()) text += fmt::format(" [{}]", option.choices);
  if (!default_of(option).empty()) text += fmt::format(" (default: {})", default_of(option));
  if (option.required) text += " (required)";
  if (!option.alias.empty()) text += fmt::format("; also --{}", option.alias);
  return text;
}

void print_page(const std::string& page) { FileDescriptor::to_write("-").write(page); }

std::string overview(const std::vector<Command>& commands) {
  std::string page = "dragoman: train neural translation models and translate with them\n\n";
  page += "usage: dragoman COMMAND [OPTION...]\n\n";
  for (const Command& command : commands)
    page += fmt::format("  {:<10} {}\n", command.about.name, command.about.summary);
  page += fmt::format("  {:<10} {}\n\n", "help", "explain a command: dragoman help train");
  page +=
      "dragoman COMMAND -h shows the most important options, --help all of them, --help WORD those\nthat mention a "
      "word. dragoman help --man | man -l - shows the manual.\n\n";
  return page +
         "examples:\n"
         "  dragoman train -t train.en train.de -v vocab.spm vocab.spm -m model.safetensors --after 20e\n"
         "  dragoman translate -m model.safetensors < input.en > output.de\n"
         "  dragoman evaluate --references test.de --hypotheses output.de\n";
}

std::string help_page(const About& about, const std::vector<Option>& options) {
  return heading(about) + groups_page(options);
}

std::string short_help_page(const About& about, const std::vector<Option>& options,
                            const std::vector<std::string_view>& essentials) {
  if (essentials.empty()) return help_page(about, options);
  std::vector<Option> shown;
  for (const Option& option : options)
    if (option.group == common_group || std::ranges::count(essentials, option.name) > 0) shown.push_back(option);
  return heading(about) + groups_page(shown) +
         wrapped(
             fmt::format(
                 "\nThese are {} of {} options: dragoman {} --help shows all, --help WORD those that mention a word.",
                 shown.size(), options.size(), about.name),
             0) +
         "\n";
}

std::string search_page(const About& about, const std::vector<Option>& options, const std::string& word) {
  std::vector<Option> found;
  for (const Option& option : options)
    if (in_words(fmt::format("{} {} {}", signature(option), notes(option), option.group)).find(in_words(word)) !=
        std::string::npos)
      found.push_back(option);
  if (found.empty()) {
    const std::string_view foreign = foreign_answer(word, about.name);
    throw Error(fmt::format("no option of dragoman {} mentions '{}'", about.name, word),
                foreign.empty() ? fmt::format("dragoman {} --help shows them all", about.name) : std::string(foreign));
  }
  return fmt::format("dragoman {}: options that mention '{}'\n{}", about.name, word, groups_page(found));
}

std::string options_page(const std::vector<Command>& commands) {
  std::string page =
      "# Options\n\n"
      "Generated by `dragoman help --markdown`; a test fails if this page is stale. Options may also be given in YAML\n"
      "files named by `-c`, under their long names. A list option that is repeated on the command line accumulates, "
      "and\n"
      "replaces a list from a file. Values in brackets may be omitted.\n";
  for (const Command& command : commands) {
    page += fmt::format("\n## dragoman {}\n\n`dragoman {} {}`\n\n{}\n", command.about.name, command.about.name,
                        command.about.usage, command.about.text);
    const std::vector<Option> options = command.options();
    for (const std::string_view group : groups_of(options)) {
      page += fmt::format("\n### {}\n\n| option | default | meaning |\n|---|---|---|\n", group);
      for (const Option& option : options)
        if (option.group == group) page += row_of(option);
    }
  }
  return page + "\nThe dragoman authors\n";
}

}  // namespace dragoman
