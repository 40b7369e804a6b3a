#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "text/markup_tree.h"
#include "text/word_links.h"

namespace dragoman {

/// Where in a translation a node is: gaps are counted, two for each word. Gap 2i is right behind word i-1, gap 2i+1
/// right before word i, and what white space there is lies between.
struct GapRange {
  size_t begin = 0, end = 0;
};

/// A place in a translation of `words` words for each node of the tree; the places are well nested as the nodes are,
/// and siblings do not overlap. An element gets the run of words that most links speak for: each word linked from
/// inside of the element counts for, each word linked only from outside against it. One without any such word is empty.
/// Empty elements and lone markers are before the word that the next linked word leads to, or behind the one that the
/// last leads to if they belong to that. Cost: nodes × (links + words).
std::vector<GapRange> markup_layout(const std::vector<MarkupNode>& tree, std::span<const Marker> markers,
                                    std::span<const WordLink> links, size_t words);

}  // namespace dragoman
