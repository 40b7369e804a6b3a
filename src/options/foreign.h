#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

/// What other toolkits call things, for those who bring command lines and configuration files along: data, of which
/// docs/coming_from_marian.md and docs/coming_from_fairseq.md have the same tables.

inline constexpr std::string_view any_value = "*";

/// Options that the command does not have, or programs.
struct Foreign {
  std::string_view names;          // blanks between; without dashes, a letter is a short option
  std::string_view answer;         // what to do in their place; of ignored ones, why nothing is lost
  std::string_view ignored = "";   // the values with which they are ignored, commas between; any_value: all
  std::string_view commands = "";  // of dragoman, blanks between; none: all
};

/// A value that only the other toolkit has for an option of the same name.
struct ForeignValue {
  std::string_view option;
  std::string_view value;        // a pattern of all its words, blanks between: "float16 float*"
  std::string_view becomes;      // what it is taken for; nothing: the option is left out
  std::string_view answer = "";  // if there is one, the value is refused, and this is what to do
  std::string_view commands = "";
};

std::span<const Foreign> marian_options();
std::span<const Foreign> marian_programs();
std::span<const ForeignValue> marian_values();
std::span<const Foreign> fairseq_options();
std::span<const Foreign> fairseq_programs();

/// Whether `word` stands in a list such as Foreign::commands.
bool has_word(std::string_view list, std::string_view word);

/// The row of an option that `command` lacks; null for a name that no other toolkit has.
const Foreign* foreign_option(std::string_view name, std::string_view command);

/// What a program of another toolkit is called here; empty for any other word.
std::string_view foreign_program(std::string_view name);

/// Why the option may be left out of a command that stands for one of the other toolkit's; empty: it may not.
std::string_view reason_to_ignore(const Foreign& option, std::string_view command,
                                  const std::vector<std::string>& words);

/// The row for these words of an option that the command has; null if they need none.
const ForeignValue* foreign_value(std::string_view option, const std::vector<std::string>& words,
                                  std::string_view command);

}  // namespace dragoman
