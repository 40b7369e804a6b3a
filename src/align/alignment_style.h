#pragma once
#include <string>
#include <string_view>

namespace dragoman {

/// How an alignment is written, as in Marian (--alignment). A pair i-j links source token i to target token j, counted
/// from 0. hard: for each target token, the pair with the largest weight; above: each pair with a weight above the
/// threshold; soft: all weights.
struct AlignmentStyle {
  enum Kind { none, hard, soft, above } kind = none;
  double threshold = 1;  // above only
  bool operator==(const AlignmentStyle&) const = default;
};

/// Throws Error unless the word is none, hard, soft or a number above 0 and at most 1; 1 means hard.
AlignmentStyle parse_alignment_style(std::string_view word);
/// The inverse of parse_alignment_style.
std::string to_string(const AlignmentStyle& style);

}  // namespace dragoman
