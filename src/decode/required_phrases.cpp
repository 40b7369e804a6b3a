#include "decode/required_phrases.h"

#include <algorithm>
#include <set>

namespace dragoman {

size_t Phrases::pieces() const {
  size_t pieces = 0;
  for (const Phrase& phrase : all) pieces += phrase.size();
  return pieces;
}

// A phrase occurs also within the others, wherever they contain it.
RequiredPhrases::RequiredPhrases(const Phrases& phrases) : ordered_(phrases.ordered) {
  for (const Phrase& phrase : phrases.all) add(phrase);
  link();
  required_.assign(lengths_.size(), 0);
  for (const Phrase& phrase : phrases.all) {
    int node = 0;
    for (const int32_t piece : phrase) {
      node = follow(node, piece);
      for (int end = node; end != 0; end = nodes_[size_t(end)].fallback)
        if (const int found = nodes_[size_t(end)].ends; found >= 0) ++required_[size_t(found)];
    }
  }
  if (ordered_) {
    for (const int phrase : order_) total_ += length(phrase);
  } else {
    for (size_t p = 0; p < required_.size(); ++p) total_ += required_[p] * lengths_[p];
  }
}

void RequiredPhrases::add(const Phrase& phrase) {
  std::vector<int> path;
  int node = 0;
  for (const int32_t piece : phrase) {
    int next = child(node, piece);
    if (next == 0) {
      next = int(nodes_.size());
      nodes_[size_t(node)].children[piece] = next;
      nodes_.push_back({.depth = nodes_[size_t(node)].depth + 1});
    }
    path.push_back(node = next);
  }
  if (nodes_[size_t(node)].ends < 0) {
    nodes_[size_t(node)].ends = int(lengths_.size());
    for (const int on_path : path) nodes_[size_t(on_path)].through.push_back(int(lengths_.size()));
    lengths_.push_back(int(phrase.size()));
  }
  order_.push_back(nodes_[size_t(node)].ends);
}

// Breadth first, as the fallback of a node is that of its parent, continued.
void RequiredPhrases::link() {
  std::vector<int> nodes = {0};
  for (size_t i = 0; i < nodes.size(); ++i)
    for (const auto& [piece, next] : nodes_[size_t(nodes[i])].children) {
      nodes_[size_t(next)].fallback = nodes[i] == 0 ? 0 : follow(nodes_[size_t(nodes[i])].fallback, piece);
      nodes.push_back(next);
    }
}

// 0: none.
int RequiredPhrases::child(int node, int32_t piece) const {
  const auto& children = nodes_[size_t(node)].children;
  const auto found = children.find(piece);
  return found == children.end() ? 0 : found->second;
}

int RequiredPhrases::follow(int node, int32_t piece) const {
  while (node != 0 && child(node, piece) == 0) node = nodes_[size_t(node)].fallback;
  return child(node, piece);
}

bool RequiredPhrases::needs(const State& state, int phrase) const {
  if (!ordered_) return state.missing[size_t(phrase)] > 0;
  return state.missing[0] > 0 && order_[order_.size() - size_t(state.missing[0])] == phrase;
}

// Whether more pieces after this node complete a phrase that is needed.
bool RequiredPhrases::leads_on(const State& state, int node) const {
  return std::ranges::any_of(nodes_[size_t(node)].through, [&](int phrase) {
    return length(phrase) > nodes_[size_t(node)].depth && needs(state, phrase);
  });
}

RequiredPhrases::State RequiredPhrases::begin() const {
  return {.missing = ordered_ ? std::vector{int32_t(order_.size())} : required_, .left = total_};
}

RequiredPhrases::State RequiredPhrases::advance(const State& state, int32_t piece) const {
  State next{follow(state.node, piece), state.missing, state.left};
  for (int node = next.node; node != 0; node = nodes_[size_t(node)].fallback) {
    const int phrase = nodes_[size_t(node)].ends;
    if (phrase < 0 || !needs(next, phrase)) continue;
    --next.missing[ordered_ ? 0 : size_t(phrase)];
    next.left -= length(phrase);
    if (!ordered_) continue;
    next.node = 0;
    break;
  }
  return next;
}

bool RequiredPhrases::complete(const State& state) const { return state.left == 0; }

int RequiredPhrases::progress(const State& state) const {
  int node = state.node;
  while (node != 0 && !leads_on(state, node)) node = nodes_[size_t(node)].fallback;
  return total_ - state.left + nodes_[size_t(node)].depth;
}

// Most pieces are of no phrase: then a copy of the state would take most of the time.
int RequiredPhrases::progress(const State& state, int32_t piece) const {
  return follow(state.node, piece) == 0 ? total_ - state.left : progress(advance(state, piece));
}

std::vector<int32_t> RequiredPhrases::next(const State& state) const {
  if (complete(state)) return {};
  std::set<int32_t> pieces;
  for (int node = state.node;; node = nodes_[size_t(node)].fallback) {
    for (const auto& [piece, child] : nodes_[size_t(node)].children)
      if (std::ranges::any_of(nodes_[size_t(child)].through, [&](int phrase) { return needs(state, phrase); }))
        pieces.insert(piece);
    if (node == 0) return {pieces.begin(), pieces.end()};
  }
}

bool RequiredPhrases::are_in(std::span<const int32_t> pieces) const {
  State state = begin();
  for (const int32_t piece : pieces) state = advance(state, piece);
  return complete(state);
}

}  // namespace dragoman
