#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "text/markup_tree.h"
#include "text/word_links.h"

namespace dragoman {

/// The position of a node in a translation, in gaps, two for each word: gap 2i is right after word i-1, gap 2i+1
/// right before word i; any white space lies between.
struct GapRange {
  size_t begin = 0, end = 0;
};

/// A position in a translation of `words` words for each node of the tree; positions are nested as the nodes are, and
/// siblings do not overlap. An element gets the run of words with the highest score: a word linked from inside the
/// element counts +1, a word linked only from outside -1. Links of second choice count only for elements without
/// others, and take only words that no sibling has taken. An element without linked words is empty. Empty elements and
/// lone markers are before the word that the next linked word points to or, if they belong to the text before them,
/// after the word that the previous linked word points to. Cost: nodes × (links + words).
std::vector<GapRange> markup_layout(const std::vector<MarkupNode>& tree, std::span<const Marker> markers,
                                    std::span<const WordLink> links, size_t words);

}  // namespace dragoman
