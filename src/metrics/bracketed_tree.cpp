#include "metrics/bracketed_tree.h"

#include <algorithm>

namespace dragoman {
namespace {

constexpr std::string_view blanks = " \t\n\v\f\r", ends = " \t\n\v\f\r()";

/// Splits a line into brackets and atoms, which are delimited by brackets and white space.
class Tokens {
 public:
  explicit Tokens(std::string_view line) : rest_(line) { skip_blanks(); }

  bool at_end() const { return rest_.empty(); }

  bool take(char bracket) {
    if (!rest_.starts_with(bracket)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  std::string_view take_atom() {  // "" before a blank or a bracket
    const std::string_view atom = rest_.substr(0, rest_.find_first_of(ends));
    rest_.remove_prefix(atom.size());
    return atom;
  }

  void skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(blanks), rest_.size())); }

 private:
  std::string_view rest_;
};

}  // namespace

std::optional<BracketedTree> read_tree(std::string_view line) {
  BracketedTree tree;
  std::vector<size_t> open;  // constituents
  for (Tokens tokens(line); !tokens.at_end(); tokens.skip_blanks()) {
    if (tokens.take(')')) {
      if (open.empty()) return std::nullopt;
      tree.constituents[open.back()].end = tree.words.size();
      open.pop_back();
      continue;
    }
    if (!tokens.take('(')) return std::nullopt;
    const std::string_view label = tokens.take_atom();  // "" where a blank or another bracket follows
    tokens.skip_blanks();
    if (const std::string_view word = tokens.take_atom(); !word.empty()) {
      tokens.skip_blanks();
      if (!tokens.take(')')) return std::nullopt;
      tree.words.push_back({label, word});
    } else {
      open.push_back(tree.constituents.size());
      tree.constituents.push_back({label, tree.words.size(), 0});
    }
  }
  if (!open.empty() || tree.words.empty()) return std::nullopt;
  return tree;
}

}  // namespace dragoman
