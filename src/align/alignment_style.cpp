#include "align/alignment_style.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/number.h"

namespace dragoman {

AlignmentStyle parse_alignment_style(std::string_view word) {
  if (word == "none") return {};
  if (word == "hard") return {AlignmentStyle::hard};
  if (word == "soft") return {AlignmentStyle::soft};
  const double threshold = parse_number<double>(word).value_or(0);
  require(threshold > 0 && threshold <= 1, "'{}' is not hard, soft, none, or a number above 0 and at most 1", word);
  if (threshold == 1) return {AlignmentStyle::hard};
  return {AlignmentStyle::above, threshold};
}

std::string to_string(const AlignmentStyle& style) {
  switch (style.kind) {
    case AlignmentStyle::none:
      break;
    case AlignmentStyle::hard:
      return "hard";
    case AlignmentStyle::soft:
      return "soft";
    case AlignmentStyle::above:
      return fmt::format("{}", style.threshold);
  }
  return "none";
}

}  // namespace dragoman
