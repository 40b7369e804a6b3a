#include "options/foreign.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>

#include "base/words.h"
#include "options/values.h"

namespace dragoman {
namespace {

// Commands that correspond to a Marian program. In other commands, an option of another toolkit is always an error,
// whatever its value.
constexpr std::string_view stand_ins = "train translate score";

// A letter means something else in each program, so without commands it stands for an option of the corresponding one.
bool applies(const Foreign& row, std::string_view name, std::string_view command) {
  if (!row.commands.empty()) return has_word(row.commands, command);
  return name.size() > 1 || has_word(stand_ins, command);
}

const Foreign* find(std::span<const Foreign> rows, std::string_view name, std::string_view command) {
  for (const Foreign& row : rows)
    if (has_word(row.names, name) && applies(row, name, command)) return &row;
  return nullptr;
}

std::array<std::span<const Foreign>, 6> option_tables() {
  return {sacrebleu_options(), marian_options(),  fairseq_options(),
          opennmt_options(),   sockeye_options(), ctranslate2_options()};
}

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, " ")); }

}  // namespace

std::string in_words(std::string_view text) {
  std::string words(text);
  for (char& c : words) c = c == '-' || c == '_' ? ' ' : lower_ascii(c);
  return words;
}

std::string_view foreign_answer(std::string_view word, std::string_view command) {
  const std::string wanted = fmt::format(" {} ", in_words(word));
  const Foreign* with_part = nullptr;
  for (const auto rows : option_tables())
    for (const Foreign& row : rows) {
      if (!row.commands.empty() && !has_word(row.commands, command)) continue;
      for (const std::string_view name : split_at_blanks(row.names)) {
        const std::string spelled = fmt::format(" {} ", in_words(name));
        if (spelled == wanted) return row.answer;
        if (!with_part && spelled.find(wanted) != spelled.npos) with_part = &row;
      }
    }
  return with_part ? with_part->answer : "";
}

const Foreign* foreign_option(std::string_view name, std::string_view command) {
  for (const auto rows : option_tables())
    if (const Foreign* row = find(rows, name, command)) return row;
  return nullptr;
}

std::string_view foreign_program(std::string_view name) {
  for (const auto rows : {marian_programs(), fairseq_programs(), opennmt_programs(), sockeye_programs()})
    if (const Foreign* row = find(rows, name, "")) return row->answer;
  return "";
}

std::string_view reason_to_ignore(const Foreign& option, std::string_view command,
                                  const std::vector<std::string>& words) {
  if (!has_word(stand_ins, command)) return "";
  const std::string text = joined(words), value = switch_word(text) ? lower_ascii(text) : text;
  const auto listed = [&](std::string_view one) {
    return fmt::format(",{},", option.ignored).find(fmt::format(",{},", one)) != std::string::npos;
  };
  const bool off = value.empty() || (value == "false" && !listed("true"));
  if (off || listed(value)) return "such a value changes nothing here";
  return option.ignored == any_value ? option.answer : "";
}

const Foreign* renamed_option(std::string_view name, const std::vector<std::string>& words, std::string_view command) {
  const Foreign* row = foreign_option(name, command);
  return row && !row->becomes.empty() && reason_to_ignore(*row, command, words).empty() ? row : nullptr;
}

// A blank in a pattern ends a word, but a blank in a file name does not.
const ForeignValue* foreign_value(std::string_view option, const std::vector<std::string>& words,
                                  std::string_view command) {
  const std::string value = fmt::format("{}", fmt::join(words, "\n"));
  for (const auto rows : {marian_values(), sacrebleu_values(), fairseq_values()})
    for (const ForeignValue& row : rows) {
      if (row.option != option || (!row.commands.empty() && !has_word(row.commands, command))) continue;
      std::string pattern(row.value);
      std::ranges::replace(pattern, ' ', '\n');
      if (fnmatch(pattern.c_str(), value.c_str(), 0) == 0) return &row;
    }
  return nullptr;
}

}  // namespace dragoman
