#pragma once
#include <optional>
#include <string_view>
#include <vector>

namespace dragoman {

/// A tree in the brackets of the Penn Treebank, (S (NP (DT the) (NN cat)) (VP (VBZ sleeps))), as the words under it and
/// its constituents. Views point into the line. Several trees on a line, which EVALB allows, lie side by side.
struct BracketedTree {
  struct Word {
    std::string_view tag, text;
  };
  struct Constituent {
    std::string_view label;
    size_t begin, end;  // of words; equal for one that holds none
  };
  std::vector<Word> words;
  std::vector<Constituent> constituents;  // in the order of their opening brackets
};

/// Nothing where brackets do not pair, a word stands outside a bracket or beside others in one, or there is no word.
std::optional<BracketedTree> read_tree(std::string_view line);

}  // namespace dragoman
