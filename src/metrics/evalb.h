#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/bracketed_tree.h"
#include "metrics/segments.h"

namespace dragoman {

/// Accuracy of the constituents of trees (PARSEVAL, Black et al. 1991), one tree per line in Penn Treebank brackets:
///   P = matched / of the hypothesis,  R = matched / of the reference,  F1 = 2 · P · R / (P + R)
/// A constituent matches one with the same label over the same words. Counts as EVALB (Sekine and Collins 1997) does
/// with COLLINS.prm: ignores part-of-speech tags, TOP, words tagged , : . `` '' or -NONE- and constituents that hold
/// only such words; labels end at their first - or =; ADVP and PRT are one label. ROOT and the empty label are ignored
/// as well. If the two sides disagree about which words are punctuation, the reference's tags decide: the hypothesis
/// needs the right words, not the right tags. EVALB gives no score for such a line.

struct EvalbStats {
  int64_t matched = 0, of_hypothesis = 0, of_reference = 0;
  int64_t complete = 0;     // lines where all constituents of both sides match
  int64_t lines = 0;        // without other_words
  int64_t malformed = 0;    // of them, those whose hypothesis is not a tree: counted as one without constituents
  int64_t other_words = 0;  // lines skipped, as in EVALB, because the words of hypothesis and reference differ

  EvalbStats& operator+=(const EvalbStats& other);
  bool operator==(const EvalbStats&) const = default;
};

struct Evalb {
  double f1 = 0, precision = 0, recall = 0, complete = 0;  // 0 … 100
  EvalbStats stats;
};

EvalbStats evalb_stats(std::string_view hypothesis, const BracketedTree& reference);
Evalb evalb(const EvalbStats& stats);

/// The trees of a file of references; they point into its lines. Throws Error naming the first line without a tree.
std::vector<BracketedTree> read_trees(Segments lines, const std::string& name);

/// One per line; there must be as many lines as references.
std::vector<EvalbStats> evalb_of_lines(Segments hypotheses, const std::vector<BracketedTree>& references);

}  // namespace dragoman
