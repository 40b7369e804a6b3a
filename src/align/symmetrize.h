#pragma once
#include <span>
#include <vector>

#include "align/alignment.h"
#include "base/enum_names.h"

namespace dragoman {

/// How the links of both directions become one list (Och and Ney 2003; Koehn, Och and Marcu 2003).
enum class Symmetrization { none, intersection, links_of_either, grow_diag, grow_diag_final, grow_diag_final_and };

inline std::span<const EnumName<Symmetrization>> enum_names(Symmetrization) {
  static constexpr EnumName<Symmetrization> names[] = {
      {Symmetrization::none, "none"},
      {Symmetrization::intersection, "intersect"},
      {Symmetrization::links_of_either, "union"},
      {Symmetrization::grow_diag, "grow-diag"},
      {Symmetrization::grow_diag_final, "grow-diag-final"},
      {Symmetrization::grow_diag_final_and, "grow-diag-final-and"},
  };
  return names;
}

/// The links of a sentence pair, from those of each direction; sorted by source, then target. The result is that of
/// fast_align's atools with the same name. intersection: the links of both; links_of_either: of one or the other;
/// grow_*: the intersection and some of the other links, each considered in sorted order and seeing those that were
/// added before:
/// - grow_diag: those of either, if one of their two tokens has no link yet and one of the eight neighbouring pairs of
///   tokens is linked; repeated until none is added;
/// - grow_diag_final: then those of `forward`, and after them those of `reverse`, if one of their tokens is still
///   without a link;
/// - grow_diag_final_and: the same, but if both of their tokens are.
/// Order and duplicates of the arguments do not matter. Cost: O(n log n) for n links, times the rounds of growing.
std::vector<TokenLink> symmetrize(std::span<const TokenLink> forward, std::span<const TokenLink> reverse,
                                  Symmetrization how);

}  // namespace dragoman
