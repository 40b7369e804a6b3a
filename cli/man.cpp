#include "cli/man.h"

#include "base/error.h"
#include "base/utf8.h"
#include "cli/command.h"

namespace dragoman {
namespace {

// Escapes text for roff: backslashes, requests at the beginning of a line, hyphens so that they can be copied.
std::string roff(std::string_view text) {
  std::string out;
  for (const char32_t c : code_points(text)) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c < 0x80 ? std::string(1, char(c)) : fmt::format("\\[u{:04X}]", uint32_t(c));
  }
  return out.starts_with('.') || out.starts_with('\'') ? "\\&" + out : out;
}

std::string option_entry(const Option& option) {
  return fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(signature(option)), roff(notes(option)));
}

std::string command_section(const Command& command) {
  const About& about = command.about;
  std::string page = fmt::format(".SH \"DRAGOMAN {}\"\n.B dragoman {} {}\n.PP\n{}\n", roff(about.name),
                                 roff(about.name), roff(about.usage), roff(about.text));
  std::string_view group;
  for (const Option& option : command.options()) {
    if (option.group == common_group) continue;  // have their own section
    if (option.group != group) page += fmt::format(".SS {}\n", roff(group = option.group));
    page += option_entry(option);
  }
  return page;
}

}  // namespace

std::string man_page(const std::vector<Command>& commands) {
  std::string page =
      ".TH DRAGOMAN 1 \"\" \"dragoman " DRAGOMAN_VERSION
      "\" \"User Commands\"\n"
      ".SH NAME\ndragoman \\- train translation models and translate with them\n"
      ".SH SYNOPSIS\n.B dragoman\n.I COMMAND\n[\\fIOPTION\\fR...]\n"
      ".SH DESCRIPTION\nTrains neural translation models on parallel text and translates with them.\n"
      "Results go to standard output, messages to standard error.\n"
      "Values in brackets may be omitted. A file named \\- is standard input or output; text files may be plain or\n"
      "compressed (.gz, .xz, .zst).\n"
      ".SH COMMANDS\n";
  for (const Command& command : commands)
    page += fmt::format(".TP\n.B {}\n{}\n", roff(command.about.name), roff(command.about.summary));
  page += ".SH \"OPTIONS OF EVERY COMMAND\"\n";
  for (const Option& option : commands.front().options())
    if (option.group == common_group) page += option_entry(option);
  for (const Command& command : commands) page += command_section(command);
  return page +
         ".SH \"EXIT STATUS\"\n"
         ".TP\n.B 0\nSuccess, also if the reader of a pipe has gone.\n"
         ".TP\n.B 1\nOut of memory, or a bug in dragoman.\n"
         ".TP\n.B 2\nAn error that the user can correct, in an option or a file. The message says how.\n"
         ".SH ENVIRONMENT\n"
         ".TP\n.B NO_COLOR\nIf set and not empty, messages have no colours, even on a terminal.\n"
         ".TP\n.B OMP_NUM_THREADS\nNumber of threads if \\-\\-cpu\\-threads is not given.\n"
         ".SH EXAMPLES\n.nf\n"
         "dragoman train \\-t train.en train.de \\-v vocab.spm vocab.spm \\-m model.safetensors\n"
         "dragoman translate \\-m model.safetensors < input.en > output.de\n"
         "dragoman evaluate \\-\\-references test.de \\-\\-hypotheses output.de\n"
         ".fi\n"
         ".SH AUTHORS\nThe dragoman authors\n";
}

}  // namespace dragoman
