#include "decode/forbidden_phrases.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "base/error.h"
#include "base/line_reader.h"
#include "base/utf8.h"
#include "io/xxhash64.h"
#include "text/characters.h"
#include "text/composed_text.h"

namespace dragoman {
namespace {

// A symbol of the trie is a character, with this bit where a word may begin.
constexpr uint32_t begins_word = uint32_t{1} << 31;

}  // namespace

/// Where a hypothesis stands: at a node, after a character, and perhaps within one.
struct ForbiddenPhrases::Position {
  int node = 0;
  WordRole last = {};       // of the last character
  bool after_blank = true;  // or at the beginning, where blanks do not count either
  std::string part = {};    // of a character: its bytes so far, at most three

  static Position at(State state) {
    Position p{int(state & 0x7FFFFFFF), {}, (state >> 33 & 1) != 0};
    p.last = {.in_word = (state >> 31 & 1) != 0, .without_spaces = (state >> 32 & 1) != 0};
    for (State bytes = state >> 34; bytes != 0; bytes >>= 8) p.part += char(bytes & 0xFF);
    return p;
  }
  State state() const {
    State bytes = 0;
    for (size_t i = part.size(); i-- > 0;) bytes = bytes << 8 | uint8_t(part[i]);
    return node | State{last.in_word} << 31 | State{last.without_spaces} << 32 | State{after_blank} << 33 | bytes << 34;
  }
};

ForbiddenPhrases::ForbiddenPhrases(const std::string& path, std::shared_ptr<const PieceTexts> pieces)
    : pieces_(std::move(pieces)) {
  LineReader lines(path, "one phrase per line that must not occur in translations");
  for (std::string line; lines.next(line);) {
    const auto where = [&] { return fmt::format("{}, line {}", lines.name(), lines.lines()); };
    if (lines.invalid_lines() > 0) throw Error(where() + ": not UTF-8", "convert the file with iconv");
    if (line.find('\t') != line.npos)
      throw Error(where() + ": has a tab, expected a phrase that must not occur in translations",
                  "--glossary takes terms of the source with their translations");
    if (const auto phrase = without_blanks(line); !phrase.empty()) add(phrase);
  }
  link();
}

ForbiddenPhrases::ForbiddenPhrases(const std::vector<std::string>& phrases, std::shared_ptr<const PieceTexts> pieces)
    : pieces_(std::move(pieces)) {
  for (const std::string& phrase : phrases) {
    require(is_valid_utf8(phrase), "avoid: the phrase '{}' is not UTF-8", to_utf8(code_points(phrase)));
    require(!without_blanks(phrase).empty(), "avoid: a phrase is empty");
    add(without_blanks(phrase));
  }
  link();
}

void ForbiddenPhrases::add(std::string_view phrase) {
  phrases_.emplace_back(phrase);
  std::set<std::u32string> spellings = {characters_of(phrase), characters_of(decomposed(phrase))};
  spellings.insert(characters_of(ComposedText(phrase).text()));
  for (const std::u32string& characters : spellings) add_spelling(characters, int(phrases_.size()) - 1);
}

void ForbiddenPhrases::add_spelling(const std::u32string& characters, int phrase) {
  std::vector<int> path = {0};
  for (size_t i = 0; i < characters.size(); ++i) {
    const uint32_t symbol = uint32_t(characters[i]) | (is_boundary(characters, i) ? begins_word : 0);
    const auto [found, is_new] = children_.try_emplace(uint64_t(path[i]) << 32 | symbol, int(nodes_.size()));
    if (is_new) nodes_.push_back({.parent = path[i], .depth = int(i) + 1, .symbol = symbol});
    path.push_back(found->second);
  }
  int& here = nodes_[size_t(path.back())].phrase;
  if (here >= 0) return;
  here = phrase;
  find_pieces(characters, path);
}

// A node after a blank takes another blank as the same one.
void ForbiddenPhrases::find_pieces(const std::u32string& characters, std::span<const int> path) {
  for (size_t begun = 1; begun < characters.size(); ++begun) {
    auto& completing = nodes_[size_t(path[begun])].completing;
    const auto rest = std::u32string_view(characters).substr(begun);
    take(completing, pieces_->beginning_with(rest), rest.size());
    if (characters[begun - 1] != U' ') continue;
    const auto with_blank = std::u32string_view(characters).substr(begun - 1);
    take(completing, pieces_->beginning_with(with_blank), with_blank.size());
  }
  const auto inside = pieces_->inside(characters), beginning = pieces_->beginning_with(characters);
  for (auto* pieces : {&within_word_, &between_words_}) take(*pieces, inside, characters.size());
  take(between_words_, beginning, characters.size());
  if (is_boundary(WordRole{.in_word = true}, word_role(int32_t(characters[0]))))
    take(within_word_, beginning, characters.size());
}

// Of pieces with a phrase, or the end of one, those in which a word or the piece ends with it.
void ForbiddenPhrases::take(std::vector<int32_t>& pieces, std::span<const PieceTexts::Occurrence> occurrences,
                            size_t length) const {
  for (const auto& [piece, begin] : occurrences)
    if (is_boundary(pieces_->of(piece), begin + length)) pieces.push_back(piece);
}

// By depth, as the fallback of a node is that of its parent, continued.
void ForbiddenPhrases::link() {
  const auto ascending = [](std::vector<int32_t>& pieces) {
    std::ranges::sort(pieces);
    pieces.erase(std::ranges::unique(pieces).begin(), pieces.end());
  };
  ascending(within_word_), ascending(between_words_);
  std::vector<int> nodes(nodes_.size());
  std::iota(nodes.begin(), nodes.end(), 0);
  std::ranges::stable_sort(nodes, {}, [&](int node) { return nodes_[size_t(node)].depth; });
  for (const int index : nodes) {
    Node& node = nodes_[size_t(index)];
    if (node.depth > 1) node.fallback = follow(nodes_[size_t(node.parent)].fallback, node.symbol);
    const Node& fallback = nodes_[size_t(node.fallback)];
    if (node.phrase < 0) node.phrase = fallback.phrase;
    node.further = fallback.completing.empty() ? fallback.further : node.fallback;
    ascending(node.completing);
  }
}

// 0: none.
int ForbiddenPhrases::child(int node, uint32_t symbol) const {
  const auto found = children_.find(uint64_t(node) << 32 | symbol);
  return found == children_.end() ? 0 : found->second;
}

int ForbiddenPhrases::follow(int node, uint32_t symbol) const {
  for (;; node = nodes_[size_t(node)].fallback) {
    const int next = child(node, symbol);
    if (next != 0 || node == 0) return next;
  }
}

void ForbiddenPhrases::write(Position& position, char32_t character) const {
  const bool blank = character == U' ';
  if (blank && position.after_blank) return;
  const WordRole role = word_role(int32_t(character));
  const bool begins = is_boundary(position.last, role);
  position.node = follow(position.node, uint32_t(character) | (begins ? begins_word : 0));
  position.last = role;
  position.after_blank = blank;
}

// The bytes of an incomplete character are ill-formed.
void ForbiddenPhrases::end_part(Position& position) const {
  if (position.part.empty()) return;
  position.part.clear();
  write(position, ill_formed);
}

void ForbiddenPhrases::write_byte(Position& position, uint8_t byte) const {
  const bool begins = character_bytes(char(byte)) > 0;
  if (begins) end_part(position);
  if (!begins && position.part.empty()) return write(position, ill_formed);
  position.part += char(byte);
  if (std::ssize(position.part) < character_bytes(position.part[0])) return;
  for (const char32_t character : characters_of(position.part)) write(position, character);
  position.part.clear();
}

// The index of the phrase that a piece completes; -1: none.
int ForbiddenPhrases::phrase_of(Position position, int32_t piece) const {
  if (const uint8_t byte = pieces_->byte(piece); byte > 0) {
    write_byte(position, byte);
    return position.part.empty() ? nodes_[size_t(position.node)].phrase : -1;
  }
  const auto text = pieces_->of(piece);
  if (!text.empty()) end_part(position);
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == U' ' && position.after_blank) continue;
    write(position, text[i]);
    const int phrase = nodes_[size_t(position.node)].phrase;
    if (phrase >= 0 && is_boundary(text, i + 1)) return phrase;
  }
  return -1;
}

Constraint::State ForbiddenPhrases::begin() const { return Position().state(); }

Constraint::State ForbiddenPhrases::advance(State state, int32_t token) const {
  Position position = Position::at(state);
  if (const uint8_t byte = pieces_->byte(token); byte > 0) {
    write_byte(position, byte);
  } else if (const auto text = pieces_->of(token); !text.empty()) {
    end_part(position);
    for (const char32_t character : text) write(position, character);
  }
  return position.state();
}

// Within a character only bytes can complete a phrase; what else follows comes after an ill-formed character.
Allowed ForbiddenPhrases::next(State state, const HypothesisView&) const {
  const Position position = Position::at(state);
  if (!position.part.empty()) {
    Allowed allowed{.ids = between_words_};
    for (const int32_t piece : pieces_->bytes())
      if (phrase_of(position, piece) >= 0) allowed.ids.push_back(piece);
    std::ranges::sort(allowed.ids);
    return allowed;
  }
  const bool word_may_begin = is_boundary(position.last, WordRole{.in_word = true});
  Allowed allowed{.ids = word_may_begin ? between_words_ : within_word_};
  for (int node = position.node; node != 0; node = nodes_[size_t(node)].further)
    allowed.narrow({.ids = nodes_[size_t(node)].completing});
  return allowed;
}

std::string ForbiddenPhrases::first_in(std::span<const int32_t> pieces) const {
  State state = begin();
  for (const int32_t piece : pieces) {
    if (const int phrase = phrase_of(Position::at(state), piece); phrase >= 0) return phrases_[size_t(phrase)];
    state = advance(state, piece);
  }
  return "";
}

std::string ForbiddenPhrases::checksum() const {
  XxHash64 hash;
  for (const std::string& phrase : phrases_) {
    const std::string line = phrase + '\n';
    hash.add(std::as_bytes(std::span(line)));
  }
  return fmt::format("{:016x}", hash.digest());
}

}  // namespace dragoman
