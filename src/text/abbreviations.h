#pragma once
#include <string_view>

namespace dragoman {

/// The words of one language after which a full stop does not end a sentence. They are written as in running text,
/// without their last full stop, separated by blanks.
struct Abbreviations {
  std::string_view language;  // without its region
  std::string_view words;
  std::string_view before_numbers = {};  // such as "No" in "No. 5"
  bool ordinals = false;                 // "am 3. Mai": one or two digits with a full stop are an ordinal number
};

/// Those of the language; empty for a language without a row.
const Abbreviations& abbreviations_of(std::string_view language);

}  // namespace dragoman
