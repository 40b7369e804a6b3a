#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/bracketed_tree.h"
#include "metrics/segments.h"

namespace dragoman {

/// How many constituents of trees are right (PARSEVAL, Black et al. 1991), a tree a line in the brackets of the Penn
/// Treebank:
///   P = matched / of the hypothesis,  R = matched / of the reference,  F1 = 2 · P · R / (P + R)
/// A constituent matches one of the same label over the same words. What counts is what EVALB (Sekine and Collins 1997)
/// counts with COLLINS.prm: no tags of words; no words tagged , : . `` '' or -NONE- and nothing that holds no others;
/// no TOP; labels up to their first - or =; ADVP and PRT are one label. ROOT and the empty label do not count either.
/// Where the tags of a hypothesis make words of punctuation or the reverse, those of the reference hold: the hypothesis
/// needs the right words, and its tags are free. EVALB has no figure for such a line.

struct EvalbStats {
  int64_t matched = 0, of_hypothesis = 0, of_reference = 0;
  int64_t complete = 0;     // lines where all of either side matches
  int64_t lines = 0;        // but for other_words
  int64_t malformed = 0;    // of them, those whose hypothesis is no tree: taken for one without constituents
  int64_t other_words = 0;  // left out, as EVALB does: lines whose hypothesis has other words than the reference

  EvalbStats& operator+=(const EvalbStats& other);
};

struct Evalb {
  double f1 = 0, precision = 0, recall = 0, complete = 0;  // 0 … 100
  EvalbStats stats;
};

EvalbStats evalb_stats(std::string_view hypothesis, const BracketedTree& reference);
Evalb evalb(const EvalbStats& stats);

/// The trees of a file of references, which point into its lines. Throws Error that names the first line without a
/// tree.
std::vector<BracketedTree> read_trees(Segments lines, const std::string& name);

/// One for each line, of which there are as many as references.
std::vector<EvalbStats> evalb_of_lines(Segments hypotheses, const std::vector<BracketedTree>& references);

}  // namespace dragoman
