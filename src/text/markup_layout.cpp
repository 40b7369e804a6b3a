#include "text/markup_layout.h"

#include <algorithm>

namespace dragoman {
namespace {

using Kind = Marker::Kind;

// Words [begin, end) of the translation.
struct WordRange {
  size_t begin, end;
  bool empty() const { return begin >= end; }
};

bool overlap(ByteRange a, ByteRange b) { return a.begin < b.end && b.begin < a.end; }

class Layout {
 public:
  Layout(const std::vector<MarkupNode>& tree, std::span<const Marker> markers, std::span<const WordLink> links,
         size_t words)
      : tree_(tree), markers_(markers), links_(links), gaps_(tree.size()), owner_(words, none), words_(tree.size()) {
    words_[0] = {0, words};
    gaps_[0] = {0, 2 * words};
  }

  // Parents before their children.
  std::vector<GapRange> place_all() {
    std::vector<size_t> rest = {0};
    while (!rest.empty()) {
      const size_t node = rest.back();
      rest.pop_back();
      place_children(tree_[node], words_[node]);
      rest.insert(rest.end(), tree_[node].children.begin(), tree_[node].children.end());
    }
    return std::move(gaps_);
  }

 private:
  static constexpr size_t none = SIZE_MAX;

  void place_children(const MarkupNode& node, WordRange within) {
    WordRange free = within;
    for (const size_t child : node.children)
      if (tree_[child].kind == Kind::end) {
        const size_t end = free.begin + best_prefix(scores(tree_[child], free));
        set(child, {free.begin, end}, {2 * within.begin, 2 * end});
        free.begin = end;
      } else if (tree_[child].kind == Kind::begin) {
        auto backwards = scores(tree_[child], free);
        std::ranges::reverse(backwards);
        const size_t begin = free.end - best_prefix(backwards);
        set(child, {begin, free.end}, {begin == free.end ? 2 * begin : 2 * begin + 1, 2 * free.end});
        free.end = begin;
      }
    std::fill(owner_.begin() + int64_t(within.begin), owner_.begin() + int64_t(within.end), none);
    std::vector<size_t> rest;
    for (const size_t child : node.children)
      if (tree_[child].kind == Kind::open && !place_element(child, node, scores(tree_[child], free), free))
        rest.push_back(child);
    std::erase_if(rest,
                  [&](size_t child) { return place_element(child, node, scores(tree_[child], free, true), free); });
    for (const size_t child : rest) place_alone(child, node, free);
    for (const size_t child : node.children)
      if (tree_[child].kind == Kind::alone) place_alone(child, node, free);
  }

  // false: no word for the element.
  bool place_element(size_t child, const MarkupNode& node, const std::vector<int>& scores, WordRange free) {
    const MarkupNode& element = tree_[child];
    const bool is_all = element.source.size() > 0 && element.source == node.source;
    const WordRange words = is_all ? free : best_run(scores, free);
    if (words.empty()) return false;
    set(child, words, {2 * words.begin + 1, 2 * words.end});
    std::fill(owner_.begin() + int64_t(words.begin), owner_.begin() + int64_t(words.end), child);
    return true;
  }

  void place_alone(size_t child, const MarkupNode& node, WordRange free) {
    const Marker& marker = markers_[tree_[child].marker];
    const size_t gap = marker.after_previous ? gap_behind(marker.at, node, free) : gap_before(marker.at, node, free);
    const size_t word = std::clamp(gap / 2, free.begin, free.end);
    set(child, {word, word}, {gap, gap});
  }

  // The gap before the word that the next linked word of the node points to, but not inside an element.
  size_t gap_before(size_t at, const MarkupNode& node, WordRange free) const {
    const WordLink* next = nullptr;
    for (const WordLink& link : links_)
      if (!link.second_choice && link.source.end > at && link.source.begin < node.source.end)
        if (!next || link.source.begin < next->source.begin) next = &link;
    const size_t word = next ? std::clamp(next->begin, free.begin, free.end) : free.end;
    if (word == free.end) return 2 * word;
    return owner_[word] == none ? 2 * word + 1 : gaps_[owner_[word]].begin;
  }

  // The gap after the word that the last linked word of the node points to.
  size_t gap_behind(size_t at, const MarkupNode& node, WordRange free) const {
    const WordLink* last = nullptr;
    for (const WordLink& link : links_)
      if (!link.second_choice && link.source.begin < at && link.source.end > node.source.begin)
        if (!last || link.source.end > last->source.end) last = &link;
    const size_t word = last ? std::clamp(last->end, free.begin, free.end) : free.begin;
    if (word == free.begin) return 2 * word;
    return owner_[word - 1] == none ? 2 * word : gaps_[owner_[word - 1]].end;
  }

  // 1 for each word that is linked from inside the node, -1 for one that is linked from outside only.
  std::vector<int> scores(const MarkupNode& node, WordRange words, bool second_choice = false) const {
    std::vector<int> scores(words.empty() ? 0 : words.end - words.begin);
    for (const WordLink& link : links_) {
      if (link.second_choice != second_choice) continue;
      const bool is_inside = overlap(link.source, node.source);
      for (size_t w = std::max(link.begin, words.begin); w < std::min(link.end, words.end); ++w) {
        int& score = scores[w - words.begin];
        if (is_inside || score == 0) score = is_inside ? 1 : -1;
      }
    }
    return scores;
  }

  static size_t best_prefix(const std::vector<int>& scores) {
    int sum = 0, best = 0;
    size_t length = 0;
    for (size_t i = 0; i < scores.size(); ++i)
      if ((sum += scores[i]) > best) best = sum, length = i + 1;
    return length;
  }

  // The run of free words with the largest sum (Kadane); the first of several.
  WordRange best_run(const std::vector<int>& scores, WordRange free) const {
    WordRange best{free.begin, free.begin};
    int sum = 0, largest = 0;
    size_t begin = free.begin;
    for (size_t w = free.begin; w < free.end; ++w) {
      if (sum <= 0) sum = 0, begin = w;
      sum = owner_[w] == none ? sum + scores[w - free.begin] : 0;
      if (owner_[w] == none && sum > largest) largest = sum, best = {begin, w + 1};
    }
    return best;
  }

  void set(size_t node, WordRange words, GapRange gaps) {
    words_[node] = words;
    gaps_[node] = gaps;
  }

  const std::vector<MarkupNode>& tree_;
  const std::span<const Marker> markers_;
  const std::span<const WordLink> links_;
  std::vector<GapRange> gaps_;
  std::vector<size_t> owner_;     // by word: its element, among those in the current node
  std::vector<WordRange> words_;  // by node
};

}  // namespace

std::vector<GapRange> markup_layout(const std::vector<MarkupNode>& tree, std::span<const Marker> markers,
                                    std::span<const WordLink> links, size_t words) {
  return Layout(tree, markers, links, words).place_all();
}

}  // namespace dragoman
