#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

/// The option names of other toolkits, for users with existing command lines and configuration files.
/// docs/coming_from_marian.md and docs/coming_from_fairseq.md contain the tables of these two, docs/embedding.md has
/// CTranslate2's names.

inline constexpr std::string_view any_value = "*";

/// Why options of speed are ignored.
inline constexpr std::string_view no_effect = "it does not affect results here";

/// Options or programs that exist only in the other toolkit.
struct Foreign {
  std::string_view names;          // blanks between; without dashes, a letter is a short option
  std::string_view answer;         // what to do instead; for ignored options, why nothing is lost
  std::string_view ignored = "";   // the values with which they are ignored, commas between; any_value: all;
                                   // "false" always is, unless "true" is one of them
  std::string_view commands = "";  // of dragoman, blanks between; none: all
  std::string_view becomes = "";   // our option that takes its value N, if that is not ignored, …
  std::string_view unit = "";      // … as N with this unit
};

/// A value that only the other toolkit accepts for an option of the same name; or one with an answer of its own, for an
/// option without counterpart.
struct ForeignValue {
  std::string_view option;
  std::string_view value;        // a pattern of all its words, blanks between: "float16 float*"
  std::string_view becomes;      // the equivalent value; empty: as if the option were not given
  std::string_view answer = "";  // if not empty, the value is refused, with this hint
  std::string_view commands = "";
};

std::span<const Foreign> marian_options();
std::span<const Foreign> marian_programs();
std::span<const ForeignValue> marian_values();
std::span<const Foreign> sacrebleu_options();
std::span<const ForeignValue> sacrebleu_values();
std::span<const Foreign> fairseq_options();
std::span<const Foreign> fairseq_programs();
std::span<const ForeignValue> fairseq_values();
std::span<const Foreign> opennmt_options();
std::span<const Foreign> opennmt_programs();
std::span<const Foreign> sockeye_options();
std::span<const Foreign> sockeye_programs();
std::span<const Foreign> ctranslate2_options();

/// The row of an option that `command` does not have; null if no other toolkit has it either.
const Foreign* foreign_option(std::string_view name, std::string_view command);

/// In lower case, with blanks for hyphens and underscores: "n best" for "N-best".
std::string in_words(std::string_view text);

/// What a word means here, in any spelling, that is the name of an option of another toolkit or a part of one, such as
/// "scheduler"; empty if there is none.
std::string_view foreign_answer(std::string_view word, std::string_view command);

/// The dragoman command for a program of another toolkit; empty for any other word.
std::string_view foreign_program(std::string_view name);

/// Why a command that corresponds to one of the other toolkit's may ignore the option; empty: it may not.
std::string_view reason_to_ignore(const Foreign& option, std::string_view command,
                                  const std::vector<std::string>& words);

/// The row of an option whose value, unless it is ignored, another option of `command` takes; null: there is none.
const Foreign* renamed_option(std::string_view name, const std::vector<std::string>& words, std::string_view command);

/// The row for this value of an option; null if the value needs no conversion.
const ForeignValue* foreign_value(std::string_view option, const std::vector<std::string>& words,
                                  std::string_view command);

}  // namespace dragoman
