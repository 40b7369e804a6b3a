#include "text/markup_tree.h"

#include <utility>

#include "base/error.h"
#include "text/characters.h"

namespace dragoman {

std::vector<MarkupNode> markup_tree(std::string_view sentence, const std::vector<Marker>& markers) {
  using Kind = Marker::Kind;
  std::vector<MarkupNode> nodes(1);
  nodes[0].source = {0, sentence.size()};
  std::vector<size_t> path = {0};
  for (size_t i = 0; i < markers.size(); ++i) {
    const Marker& marker = markers[i];
    if (marker.kind == Kind::close) {
      invariant(path.size() > 1, "pairs of markers are well nested");
      nodes[path.back()].source.end = marker.at;
      nodes[path.back()].closing = i;
      path.pop_back();
      continue;
    }
    const size_t node = nodes.size();
    nodes.push_back({.kind = marker.kind, .source = {marker.at, marker.at}, .marker = i});
    if (marker.kind == Kind::end) {
      invariant(path.size() == 1, "an element that began before the sentence ends outside of others");
      nodes[node].source.begin = 0;
      nodes[node].children = std::exchange(nodes[0].children, {});
    }
    nodes[path.back()].children.push_back(node);
    if (marker.kind == Kind::begin) nodes[node].source.end = sentence.size();
    if (marker.kind == Kind::open || marker.kind == Kind::begin) path.push_back(node);
  }
  for (MarkupNode& node : nodes) node.source = without_blanks(sentence, node.source);
  return nodes;
}

}  // namespace dragoman
