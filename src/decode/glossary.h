#pragma once
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "decode/required_phrases.h"
#include "vocab/vocabulary.h"

namespace dragoman {

class ForbiddenPhrases;

/// The pieces of a phrase within a sentence. In writing without spaces they do not begin with a space.
Phrase phrase_of(const Vocabulary& target, std::string_view text);

/// Terms and the phrases that must occur in translations of lines that contain them (terminology). Immutable, so
/// threads may share it.
class Glossary {
 public:
  /// Reads lines of a term of the source, a tab and its translation. Blanks around both are dropped, lines without text
  /// are skipped. Error, with file and line, for other lines, for broken UTF-8, for a term with two translations, and
  /// for translations with characters that the vocabulary lacks.
  Glossary(const std::string& path, const Vocabulary& target);
  /// Of terms and their translations. Error likewise, without file and line; bytes that are no UTF-8 become U+FFFD.
  Glossary(const std::map<std::string, std::string>& terms, const Vocabulary& target);

  /// A term in a text.
  struct Found {
    size_t begin;          // its first byte
    const Phrase* phrase;  // of the translation; valid as long as the glossary
  };
  /// The terms in a text from left to right, of those that begin at the same character the longest. They do not
  /// overlap. Terms are compared character by character (é is one, however it is written), and must be whole words: no
  /// letter, digit or mark may follow or precede within the word, but in writing without spaces a term may begin and
  /// end at any character. With `further`, its terms count too; a term of
  /// both has the translation of this glossary.
  std::vector<Found> find(std::string_view original, const Glossary* further = nullptr) const;

  /// Error for a translation that contains a phrase which must not occur.
  void require_without(const ForbiddenPhrases& avoided) const;

  bool empty() const { return by_first_word_.empty(); }
  std::string checksum() const;  // of terms and translations
  /// Whether its phrases are pieces of this vocabulary.
  bool is_for(const Vocabulary& target) const { return target_.is_same_as(target); }

 private:
  struct Term {
    std::string source;  // composed
    Phrase phrase;
    int64_t line;  // of the file; 0: none
  };
  using Terms = std::unordered_map<std::string, Term>;  // by source
  void add(Terms& terms, std::string_view source, std::string_view translation, int64_t line, std::string_view where);
  void take(Terms terms);
  const Term* longest(std::string_view text, const std::string& first_word) const;

  const Vocabulary target_;
  std::string name_ = "glossary";                                     // or of the file
  std::unordered_map<std::string, std::vector<Term>> by_first_word_;  // of each, the longest term first
};

}  // namespace dragoman
