#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "decode/constraint.h"
#include "decode/piece_texts.h"
#include "text/words.h"

namespace dragoman {

/// Phrases that do not occur in a translation, whatever pieces would write them. A phrase occurs where a word begins,
/// and ends with a word or with a piece: "Hund" forbids ▁Hund, ▁Hu nd and ▁Hund., but not ▁Hunde. In writing without
/// spaces it occurs anywhere. Blanks of any kind and number are one, and é is one character however it is written.
///
/// An Aho-Corasick automaton over the trie of the phrases' characters follows each hypothesis. Each node has the pieces
/// that would complete a phrase there, so a step costs a look-up. </s> completes none, so that every hypothesis
/// can end. Immutable, so threads may share it. Costs some look-ups in PieceTexts for each character of the phrases.
class ForbiddenPhrases : public Constraint {
 public:
  /// Reads a file with a phrase a line. Blanks around it are dropped, lines without text are skipped. Error, with file
  /// and line, for lines with a tab and for broken UTF-8.
  ForbiddenPhrases(const std::string& path, std::shared_ptr<const PieceTexts> pieces);
  /// Error for a phrase without text and for broken UTF-8.
  ForbiddenPhrases(const std::vector<std::string>& phrases, std::shared_ptr<const PieceTexts> pieces);

  bool stateful() const override { return true; }
  State begin() const override;
  State advance(State state, int32_t token) const override;
  Allowed next(State state, const HypothesisView& past) const override;
  bool depends_on_tokens() const override { return false; }
  bool yields_to_phrases() const override { return false; }

  bool empty() const { return phrases_.empty(); }
  std::string checksum() const;
  /// The first phrase that these pieces write at the beginning of a word; empty: none.
  std::string first_in(std::span<const int32_t> pieces) const;
  /// Whether its phrases are written with pieces of this vocabulary.
  bool is_for(const Vocabulary& target) const { return pieces_->vocabulary().is_same_as(target); }

 private:
  struct Node {
    int parent = 0, depth = 0;
    uint32_t symbol = 0;                   // its last character
    int fallback = 0;                      // the node of the longest proper end of this one's characters
    int phrase = -1;                       // the longest one with which this one's characters end
    std::vector<int32_t> completing = {};  // pieces that complete a phrase that begins as this one's characters do …
    int further = 0;                       // … the nearest fallback that has such pieces, too; 0: none
  };
  struct Position;  // of a hypothesis

  void add(std::string_view phrase);
  void add_spelling(const std::u32string& characters, int phrase);
  void find_pieces(const std::u32string& characters, std::span<const int> path);
  void take(std::vector<int32_t>& pieces, std::span<const PieceTexts::Occurrence> occurrences, size_t length) const;
  void link();
  int child(int node, uint32_t symbol) const;
  int follow(int node, uint32_t symbol) const;
  void write(Position& position, char32_t character) const;
  void end_part(Position& position) const;
  void write_byte(Position& position, uint8_t byte) const;
  int phrase_of(Position position, int32_t piece) const;

  const std::shared_ptr<const PieceTexts> pieces_;
  std::vector<std::string> phrases_;
  std::vector<Node> nodes_ = {Node{}};
  std::unordered_map<uint64_t, int> children_;  // by node and symbol
  // Pieces that contain a phrase, within a word, and where a word may begin: some begin with a phrase.
  std::vector<int32_t> within_word_, between_words_;
};

}  // namespace dragoman
