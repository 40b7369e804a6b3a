#pragma once
#include <string_view>
#include <vector>

#include "text/inline_markup.h"

namespace dragoman {

/// A marker or a pair of markers, with its content.
struct MarkupNode {
  Marker::Kind kind = Marker::Kind::open;  // open stands for a pair, and for the root
  ByteRange source = {};                   // of the sentence, without blanks at its ends
  size_t marker = 0;                       // the first, or only one
  size_t closing = 0;                      // of a pair
  std::vector<size_t> children = {};       // in the order of the sentence
};

/// Node 0 is the sentence. An element that continues after the sentence extends to its end, one that began before it
/// starts at its beginning. At most the first child of a node is an `end`, at most the last a `begin`.
std::vector<MarkupNode> markup_tree(std::string_view sentence, const std::vector<Marker>& markers);

}  // namespace dragoman
