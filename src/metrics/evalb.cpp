#include "metrics/evalb.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "base/error.h"
#include "base/utf8.h"

namespace dragoman {
namespace {

using Words = std::vector<BracketedTree::Word>;
using Constituents = std::vector<std::tuple<std::string_view, size_t, size_t>>;  // label, words [begin, end)

bool is_trace(std::string_view tag) { return tag == "-NONE-"; }
bool is_punctuation_tag(std::string_view tag) {
  return tag == "," || tag == ":" || tag == "." || tag == "``" || tag == "''";
}

std::string_view compared(std::string_view label) {
  label = label.substr(0, label.find_first_of("-="));
  return label == "PRT" ? "ADVP" : label;
}

bool counts(std::string_view label) { return !label.empty() && label != "TOP" && label != "ROOT"; }

// [i]: whether word i is punctuation, not counting traces.
std::vector<bool> punctuation_of(const BracketedTree& tree) {
  std::vector<bool> marks;
  for (const auto& word : tree.words)
    if (!is_trace(word.tag)) marks.push_back(is_punctuation_tag(word.tag));
  return marks;
}

std::vector<std::string_view> words_of(const BracketedTree& tree, const std::vector<bool>& left_out) {
  std::vector<std::string_view> words;
  size_t i = 0;
  for (const auto& word : tree.words)
    if (!is_trace(word.tag) && !left_out[i++]) words.push_back(word.text);
  return words;
}

// The constituents that count, sorted. Positions refer to the words that are kept.
Constituents constituents_of(const BracketedTree& tree, const std::vector<bool>& left_out) {
  std::vector<size_t> position{0};  // [i]: of word i and of what follows the last
  size_t i = 0;
  for (const auto& word : tree.words) position.push_back(position.back() + (!is_trace(word.tag) && !left_out[i++]));
  Constituents found;
  for (const auto& [label, begin, end] : tree.constituents)
    if (position[begin] < position[end] && counts(compared(label)))
      found.emplace_back(compared(label), position[begin], position[end]);
  std::sort(found.begin(), found.end());
  return found;
}

size_t common(const Constituents& a, const Constituents& b) {
  Constituents both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both.size();
}

// Words to leave out of the hypothesis to make its words equal the reference's; empty if impossible.
std::optional<std::vector<bool>> punctuation_as_in(const BracketedTree& reference, const BracketedTree& hypothesis) {
  const std::vector<bool> own = punctuation_of(hypothesis), expected = punctuation_of(reference);
  if (words_of(hypothesis, own) == words_of(reference, expected)) return own;
  const std::vector<bool> none_of_own(own.size()), none_expected(expected.size());
  if (words_of(hypothesis, none_of_own) == words_of(reference, none_expected)) return expected;
  return std::nullopt;
}

double percent(int64_t part, int64_t whole) { return whole > 0 ? 100 * double(part) / double(whole) : 0; }

}  // namespace

EvalbStats& EvalbStats::operator+=(const EvalbStats& other) {
  matched += other.matched;
  of_hypothesis += other.of_hypothesis;
  of_reference += other.of_reference;
  complete += other.complete;
  lines += other.lines;
  malformed += other.malformed;
  other_words += other.other_words;
  return *this;
}

EvalbStats evalb_stats(std::string_view hypothesis, const BracketedTree& reference) {
  const Constituents gold = constituents_of(reference, punctuation_of(reference));
  EvalbStats stats{.of_reference = int64_t(gold.size()), .lines = 1};
  const auto tree = read_tree(hypothesis);
  if (!tree) {
    stats.malformed = 1;
    return stats;
  }
  const auto left_out = punctuation_as_in(reference, *tree);
  if (!left_out) return {.other_words = 1};
  const Constituents found = constituents_of(*tree, *left_out);
  stats.of_hypothesis = int64_t(found.size());
  stats.matched = int64_t(common(found, gold));
  stats.complete = found == gold;
  return stats;
}

Evalb evalb(const EvalbStats& stats) {
  Evalb result{.stats = stats};
  result.precision = percent(stats.matched, stats.of_hypothesis);
  result.recall = percent(stats.matched, stats.of_reference);
  result.f1 = percent(2 * stats.matched, stats.of_hypothesis + stats.of_reference);  // the same mean, in whole numbers
  result.complete = percent(stats.complete, stats.lines);
  return result;
}

std::vector<BracketedTree> read_trees(Segments lines, const std::string& name) {
  std::vector<BracketedTree> trees;
  for (size_t line = 0; line < lines.size(); ++line) {
    auto tree = read_tree(lines[line]);
    require(tree.has_value(), "{}, line {}: expected a tree such as (S (NP (NNS cats)) (VP (VBP sleep))), found '{}'",
            name, line + 1, beginning_of(lines[line]));
    trees.push_back(std::move(*tree));
  }
  return trees;
}

std::vector<EvalbStats> evalb_of_lines(Segments hypotheses, const std::vector<BracketedTree>& references) {
  invariant(hypotheses.size() == references.size(), "evalb_of_lines: a reference for each line");
  return stats_of_lines<EvalbStats>(hypotheses.size(),
                                    [&](size_t line) { return evalb_stats(hypotheses[line], references[line]); });
}

}  // namespace dragoman
