#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace dragoman {

/// Pieces that must occur in a translation one after the other.
using Phrase = std::vector<int32_t>;

/// The phrases that a translation must contain: terms of a glossary, lexical constraints.
struct Phrases {
  std::vector<Phrase> all = {};  // none is empty
  bool ordered = false;          // each begins after the one before it ends
  bool empty() const { return all.empty(); }
  size_t pieces() const;  // of all phrases
};

/// Follows how much of its phrases a hypothesis has: an Aho-Corasick automaton over the trie of the phrases (Hu et al.
/// 2019, section 4), with the number of occurrences that each still needs. A phrase that is named twice must occur
/// twice, and one inside another needs an occurrence of its own. Phrases that are not ordered may overlap: "a b" and "b
/// c" are both in "a b c".
class RequiredPhrases {
 public:
  struct State {
    int node = 0;  // the longest end of the hypothesis that begins a phrase
    // Occurrences that each phrase needs; if they are ordered, one number: how many of them are needed.
    std::vector<int32_t> missing = {};
    int left = 0;  // pieces of these occurrences
  };

  explicit RequiredPhrases(const Phrases& phrases);

  State begin() const;
  State advance(const State& state, int32_t piece) const;
  bool complete(const State& state) const;
  /// How many pieces of the phrases the hypothesis has, those of one that has begun included. Only a complete state has
  /// all.
  int progress(const State& state) const;
  /// The same after one more piece.
  int progress(const State& state, int32_t piece) const;
  /// The pieces that continue or begin a phrase that is needed, in ascending order.
  std::vector<int32_t> next(const State& state) const;
  /// Whether these pieces contain all phrases.
  bool are_in(std::span<const int32_t> pieces) const;

 private:
  struct Node {
    std::map<int32_t, int> children = {};
    int depth = 0;
    int fallback = 0;               // the node of the longest proper end of this one's pieces
    int ends = -1;                  // the phrase that ends here
    std::vector<int> through = {};  // the phrases that begin with these pieces
  };

  void add(const Phrase& phrase);
  void link();
  int child(int node, int32_t piece) const;
  int follow(int node, int32_t piece) const;
  bool needs(const State& state, int phrase) const;
  bool leads_on(const State& state, int node) const;
  int length(int phrase) const { return lengths_[size_t(phrase)]; }

  bool ordered_;
  std::vector<Node> nodes_ = {Node{}};
  std::vector<int> lengths_;       // of each distinct phrase
  std::vector<int> order_;         // the phrases as they were given
  std::vector<int32_t> required_;  // occurrences of each distinct phrase
  int total_ = 0;                  // pieces of all required occurrences
};

}  // namespace dragoman
