#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

/// Which words of a reference a hypothesis has where, after its cheapest edit into it.
struct EditAlignment {
  std::vector<int> position;              // of the hypothesis: where each word of the reference is, or would follow
  std::vector<bool> reference_is_wrong;   // words that are inserted or replace another
  std::vector<bool> hypothesis_is_wrong;  // words that are deleted or replaced
};

/// Word edit distance of one reference to hypotheses of one length: insertions, deletions and replacements cost 1.
/// Only a band around the diagonal is looked at, 25 words to either side as in tercom, more where the lengths differ
/// much: time and memory are linear in the lengths. A symbol is the number of a word.
class EditDistance {
 public:
  EditDistance(std::u32string_view reference, size_t hypothesis_length);

  /// The distance, and what align() and that_with() start from. O(50 · words).
  int to(std::u32string_view hypothesis);

  /// The distance to a hypothesis that equals the last one of to() in its first `same` words: only the rest is
  /// computed.
  int to_changed(std::u32string_view hypothesis, size_t same);

  /// How the last hypothesis of to() becomes the reference. Of equally cheap ways the one that tercom takes.
  EditAlignment align() const;

 private:
  struct Band {
    int begin, end;  // columns: words of the reference
    size_t offset;   // of column `begin` in a table of costs
  };
  enum class Edit { keep, replace, remove, insert };

  int cost(const std::vector<int>& costs, int row, int column) const;
  void fill(std::vector<int>& costs, const std::vector<int>& above, int row, char32_t word) const;
  Edit last_edit(int row, int column) const;

  std::u32string_view reference_;
  std::u32string hypothesis_;
  std::vector<Band> bands_;         // a row for each word of the hypothesis, and row 0 before them
  std::vector<int> costs_, trial_;  // of hypothesis_ and of the one in to_changed()
};

}  // namespace dragoman
