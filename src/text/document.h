#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_range.h"
#include "base/enum_names.h"
#include "text/inline_markup.h"
#include "text/translated_sentence.h"

namespace dragoman {

enum class DocumentFormat { text, html };

inline std::span<const EnumName<DocumentFormat>> enum_names(DocumentFormat) {
  static constexpr EnumName<DocumentFormat> names[] = {{DocumentFormat::text, "text"}, {DocumentFormat::html, "html"}};
  return names;
}

/// Splits a text into sentences to be translated one by one, and reassembles it (docs/text.md).
///
/// What lies between sentences is kept byte for byte: white space, line breaks, paragraphs, and all HTML that is not
/// text. Sentences of plain text end with lines, those of HTML with blocks. Where two sentences meet without a blank,
/// as in Chinese and Japanese, and the translation of the first ends in another script, a blank is inserted.
///
/// Each HTML tag is output exactly once, around or before the words that links point to; tags stay well nested if they
/// were; no other markup is output. If translations equal the sentences, plain text is unchanged, and so is HTML, with
/// these exceptions: runs of white space in a sentence become one blank; blanks at the ends of an inline element move
/// out of it; references are kept only for characters that a sentence always writes in the same way; "&", "<" and ">"
/// become references; markup inside a word moves before or around it.
class Document {
 public:
  /// The language of the text: see SentenceBreaker. Error for a text of 2 GiB or more. Accepts any HTML; broken HTML
  /// stays as it is. Cost: linear in the text.
  Document(std::string text, DocumentFormat format, std::string_view language);

  /// In order; each is one non-empty line without markup and references.
  const std::vector<std::string>& sentences() const { return sentences_; }

  /// Whether the sentence has markup inside that links can place. Without links, tags go around the whole sentence.
  bool needs_links(size_t sentence) const;

  /// The text with each sentence replaced by its translation. Error if their numbers differ. Links are byte ranges of
  /// the sentences; they may be wrong, and overlap.
  std::string assemble(std::span<const TranslatedSentence> translations) const;

  /// Of this text, what a sentence adds to the sentences before it: what lies between them, and its translation.
  std::string assemble(size_t sentence, std::span<const TranslatedSentence> translations) const;

 private:
  void find_lines(std::string_view language);
  void find_elements(std::string_view language);
  bool lacks_blank(size_t sentence, std::span<const TranslatedSentence> translations) const;

  std::string text_;
  DocumentFormat format_;
  std::vector<ByteRange> ranges_;  // of the sentences in the text
  std::vector<std::string> sentences_;
  std::vector<InlineMarkup> markup_;  // one per sentence of HTML
};

}  // namespace dragoman
