#include "metrics/ter.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "base/error.h"
#include "base/utf8.h"
#include "metrics/edit_distance.h"
#include "metrics/ngrams.h"
#include "metrics/text.h"

namespace dragoman {
namespace {

constexpr int longest_move = 10, farthest_move = 50, most_tries = 1000;  // tercom's, and sacreBLEU's for the last

// Moves `length` words starting at `from` before the word at `to`.
struct Move {
  int from, length, to;

  int first_changed() const { return std::min(from, to); }

  std::u32string applied(const std::u32string& words) const {
    std::u32string out = words;
    const auto begin = out.begin();
    if (to < from) {
      std::rotate(begin + to, begin + from, begin + from + length);
    } else {
      const int end = to > from + length ? to : std::min(int(words.size()), to + length);  // a move within itself
      std::rotate(begin + from, begin + from + length, begin + end);
    }
    return out;
  }
};

struct Candidate {
  int saved = 0;
  Move move{};

  // Ranking as in tercom: saves more, is longer, starts earlier, goes to an earlier position.
  bool better_than(const Candidate& other) const {
    const auto rank = [](const Candidate& c) { return std::array{c.saved, c.move.length, -c.move.from, -c.move.to}; };
    return rank(*this) > rank(other);
  }
};

// Section 2.2 of the paper: the moves that bring words to their position in the reference, and their gain.
class MoveSearch {
 public:
  MoveSearch(std::u32string words, const std::u32string& reference)
      : words_(std::move(words)), reference_(reference), distance_(reference_, words_.size()) {}

  int edits() {
    int moves = 0;
    for (int cost = distance_.to(words_);; ++moves) {
      const auto best = best_move(cost);
      if (tries_ >= most_tries || !best || best->saved <= 0) return moves + cost;
      words_ = best->move.applied(words_);
      cost = distance_.to(words_);
    }
  }

 private:
  std::optional<Candidate> best_move(int cost) {
    alignment_ = distance_.align();
    std::optional<Candidate> best;
    const int words = int(words_.size()), reference_words = int(reference_.size());
    for (int from = 0; from < words; ++from)
      for (int target = std::max(0, from - farthest_move); target < std::min(reference_words, from + farthest_move + 1);
           ++target) {
        const int equal = equal_words(from, target);
        for (int length = 1; length <= equal; ++length) {
          if (tries_ >= most_tries) return best;
          if (is_worth_trying(from, target, length)) try_moves(from, target, length, cost, best);
        }
      }
    return best;
  }

  // Number of words starting at `from` that equal those of the reference starting at `target`.
  int equal_words(int from, int target) const {
    const int most = std::min({longest_move, int(words_.size()) - from, int(reference_.size()) - target});
    int length = 0;
    while (length < most && words_[size_t(from + length)] == reference_[size_t(target + length)]) ++length;
    return length;
  }

  // Both the words and their position in the reference are still wrong, and the position is not within the words.
  bool is_worth_trying(int from, int target, int length) const {
    const auto any = [&](const std::vector<bool>& wrong, int begin) {
      return std::find(wrong.begin() + begin, wrong.begin() + begin + length, true) != wrong.begin() + begin + length;
    };
    const int position = alignment_.position[size_t(target)];
    return any(alignment_.hypothesis_is_wrong, from) && any(alignment_.reference_is_wrong, target) &&
           !(from <= position && position < from + length);
  }

  // The run can go after the word before its position in the reference, or after any word aligned to its own.
  void try_moves(int from, int target, int length, int cost, std::optional<Candidate>& best) {
    int last = -1;
    for (int word = target - 1; word < target + length; ++word) {
      const int to = word < 0 ? 0 : alignment_.position[size_t(word)] + 1;
      if (to == last) continue;
      last = to;
      const Move move{from, length, to};
      const int moved = distance_.to_changed(move.applied(words_), size_t(move.first_changed()));
      const Candidate candidate{cost - moved, move};
      ++tries_;
      if (!best || candidate.better_than(*best)) best = candidate;
    }
  }

  std::u32string words_;
  const std::u32string& reference_;
  EditDistance distance_;
  EditAlignment alignment_;
  int tries_ = 0;  // over all moves of the line
};

std::u32string normalize_for_ter(std::string_view line, Case letters) {
  const std::u32string text = code_points(line);
  return letters == Case::lower ? metrics::lower(text) : text;
}

}  // namespace

TerStats& TerStats::operator+=(const TerStats& other) {
  edits += other.edits;
  reference_words += other.reference_words;
  return *this;
}

TerStats ter_stats(std::string_view hypothesis, std::span<const std::string_view> references, Case letters) {
  invariant(!references.empty(), "ter_stats: at least one reference");
  std::vector<std::u32string> texts{normalize_for_ter(hypothesis, letters)};  // WordNumbers keeps views of them
  for (const auto reference : references) texts.push_back(normalize_for_ter(reference, letters));
  WordNumbers numbers;
  const std::u32string words = numbers(metrics::split(texts[0]));
  int least = std::numeric_limits<int>::max();
  size_t reference_words = 0;
  for (size_t r = 1; r < texts.size(); ++r) {
    const std::u32string reference = numbers(metrics::split(texts[r]));
    least = std::min(least, reference.empty() ? int(words.size()) : MoveSearch(words, reference).edits());
    reference_words += reference.size();
  }
  return {double(least), double(reference_words) / double(references.size())};
}

double ter(const TerStats& stats) {
  if (stats.reference_words > 0) return 100 * (stats.edits / stats.reference_words);
  return stats.edits > 0 ? 100 : 0;
}

std::vector<TerStats> ter_of_lines(Segments hypotheses, const std::vector<Segments>& references, Case letters) {
  require_parallel(hypotheses, references);
  return stats_of_lines<TerStats>(hypotheses.size(), [&](size_t line) {
    return ter_stats(hypotheses[line], references_of(references, line), letters);
  });
}

}  // namespace dragoman
