#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

/// Alignment of a hypothesis with a reference, from the cheapest edit between them.
struct EditAlignment {
  std::vector<int> position;  // in the hypothesis, of each reference word, or of the word that it would follow
  std::vector<bool> reference_is_wrong;   // words inserted or replacing another
  std::vector<bool> hypothesis_is_wrong;  // words that are deleted or replaced
};

/// Word edit distance of one reference to hypotheses of one length: insertions, deletions and replacements cost 1.
/// Computes only a band around the diagonal, 25 words to either side as in tercom and wider if the lengths differ much:
/// time and memory are linear in the lengths. A symbol is the number of a word.
class EditDistance {
 public:
  EditDistance(std::u32string_view reference, size_t hypothesis_length);

  /// The distance; align() and to_changed() refer to this hypothesis. O(50 · words).
  int to(std::u32string_view hypothesis);

  /// The distance to a hypothesis whose first `same` words equal those of the last to(): only the rest is computed.
  int to_changed(std::u32string_view hypothesis, size_t same);

  /// Alignment of the last hypothesis of to(). Among equally cheap edits, chooses as tercom does.
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
  std::vector<Band> bands_;         // row 0, then one row per word of the hypothesis
  std::vector<int> costs_, trial_;  // of hypothesis_ and of the one in to_changed()
};

}  // namespace dragoman
