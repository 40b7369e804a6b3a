#include "train/valid_script.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <string_view>

#include "base/error.h"
#include "base/log.h"
#include "base/shell.h"
#include "base/words.h"

namespace dragoman {
namespace {

// The word at the beginning of a command line: Marian's users write "bash validate.sh" as well as a path alone.
std::string first_word(const std::string& command) {
  std::istringstream words(command);
  std::string first;
  words >> first;
  return first;
}

// "'my script'", "LANG=C", "~/score", "true;": not the name of a program as it is.
bool is_for_the_shell(const std::string& word) { return word.find_first_of("'\"\\$`~=;&|<>(){}[]*?!#") != word.npos; }

// Whether the shell does not find this name among programs, its own commands and its words.
bool is_unknown_to_shell(const std::string& name) {
  const int status = run_in_shell("command -v " + quoted_for_shell(name)).status;
  return status != 0 && status != -1;
}

bool in_word(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

std::string first_line(const std::string& text) {
  constexpr const char* blanks = " \t\r\n";
  const size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string::npos) return "";
  std::string line = text.substr(begin, std::min<size_t>(200, text.find('\n', begin) - begin));
  return line.erase(line.find_last_not_of(blanks) + 1);
}

std::string failure_of(const ShellOutput& output) {
  if (output.status == -1) return "cannot be started, or its exit status is unknown";
  if (WIFSIGNALED(output.status)) return fmt::format("was killed by signal {}", WTERMSIG(output.status));
  if (WEXITSTATUS(output.status) != 0) return fmt::format("failed with exit code {}", WEXITSTATUS(output.status));
  return fmt::format("printed no number, but '{}'", first_line(output.text));
}

}  // namespace

void require_program(const ValidScript& script) {
  const std::string program = first_word(script.command);
  if (is_for_the_shell(program)) return;
  const bool path = program.find('/') != std::string::npos;
  if (path ? access(program.c_str(), X_OK) == 0 : !is_unknown_to_shell(program)) return;
  if (path && access(program.c_str(), F_OK) == 0)
    throw Error(fmt::format("--valid-script-path {}: the file is not executable", script.command),
                fmt::format("chmod +x {0}, or give --valid-script-path \"bash {0}\"", program));
  const bool here = !path && access(program.c_str(), F_OK) == 0;
  throw Error(fmt::format("--valid-script-path {}: there is no such program", script.command),
              here ? fmt::format("the file in the current folder is --valid-script-path \"./{}\"", script.command)
                   : "give its full path");
}

std::optional<double> judge(const ValidScript& script, const std::string& translations, std::atomic<int>& group) {
  std::string command = script.command;
  for (const std::string& argument : script.arguments) command += " " + quoted_for_shell(argument);
  const ShellOutput output = run_in_shell(command + " " + quoted_for_shell(translations) + " </dev/null", &group);
  if (output.status == 0)
    if (const auto figure = first_number(output.text)) return figure;
  log_warning("--valid-script-path {}: the script {}; training continues without its value", script.command,
              failure_of(output));
  return std::nullopt;
}

std::optional<double> first_number(const std::string& text) {
  const std::string_view all = text;
  for (size_t i = 0; i < all.size(); ++i) {
    if (i > 0 && (in_word(all[i - 1]) || all[i - 1] == '.')) continue;
    const std::string_view from = all.substr(i);
    const size_t sign = from[0] == '-' || from[0] == '+' ? 1 : 0, point = from.substr(sign).starts_with('.') ? 1 : 0;
    if (from.size() <= sign + point || !is_digit(from[sign + point])) continue;
    double value = 0;  // not by strtod, which expects a comma in some locales
    const char* const last = from.data() + from.size();
    const auto [end, error] = std::from_chars(from.data() + (from[0] == '+'), last, value);
    if (end != last && in_word(*end)) continue;
    const bool whole = std::all_of(from.data() + sign, end, is_digit);
    if (whole && last - end > 1 && *end == ',' && is_digit(end[1])) return std::nullopt;  // 12,5: 12.5, or two numbers?
    return error == std::errc() ? std::optional(value) : std::nullopt;
  }
  return std::nullopt;
}

std::string filled_in(std::string name, const Progress& p) {
  const std::pair<const char*, int64_t> values[] = {
      {"{U}", p.updates}, {"{E}", p.epoch()}, {"{B}", p.epoch_batches()}, {"{T}", p.target_tokens}};
  for (const auto& [placeholder, value] : values)
    for (size_t at; (at = name.find(placeholder)) != std::string::npos;) name.replace(at, 3, std::to_string(value));
  return name;
}

}  // namespace dragoman
