#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

/// An option of Marian's training, decoding or scoring that is left out here on purpose, and what to do in its place.
/// For those who bring command lines and configuration files along; docs/coming_from_marian.md has the same table.
struct LeftOut {
  std::string_view option;  // the long name, or a letter
  std::string_view instead;
};
std::span<const LeftOut> left_out_of_marian();

/// What to do in place of an option; null for a word that is none of them.
const LeftOut* left_out(std::string_view option);

/// A hint with a line for each: whoever brings one of them mostly brings several.
std::string advice_on(const std::vector<const LeftOut*>& options, std::string_view prefix);

}  // namespace dragoman
