#pragma once
#include <optional>
#include <string_view>
#include <vector>

namespace dragoman {

/// The words and constituents of a tree in Penn Treebank brackets: (S (NP (DT the) (NN cat)) (VP (VBZ sleeps))). Views
/// point into the line. A line may hold several trees, as in EVALB.
struct BracketedTree {
  struct Word {
    std::string_view tag, text;
  };
  struct Constituent {
    std::string_view label;
    size_t begin, end;  // of words; equal for an empty constituent
  };
  std::vector<Word> words;
  std::vector<Constituent> constituents;  // in the order of their opening brackets
};

/// Empty if brackets do not match, a word is outside brackets or shares them with others, or there is no word.
std::optional<BracketedTree> read_tree(std::string_view line);

}  // namespace dragoman
