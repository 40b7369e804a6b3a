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

/// A text as the sentences in it, to translate one by one and to put together again (docs/text.md).
///
/// What is between sentences stays byte for byte: white space, line breaks, paragraphs, and all of HTML that is no
/// text. Sentences of plain text end with lines, those of HTML with blocks. Where two sentences meet without a blank,
/// as in Chinese and Japanese, and the translation of the first ends in another writing, a blank is put between.
///
/// Of HTML, each tag comes out exactly once, well nested where it was so, and around or before the words that links
/// lead to; no other markup comes out. With translations equal to the sentences, plain text is as it was, and HTML as
/// it was but for: runs of white space in a sentence are one blank; blanks at the ends of an inline element are outside
/// of it; references are as written only where a sentence writes a character always in the same way; "&", "<" and ">"
/// are references; what is in the midst of a word is before it or around it.
class Document {
 public:
  /// The language of the text: see SentenceBreaker. Error for a text of 2 GiB or more. Any HTML will do: what is broken
  /// stays as broken as it is. Cost: linear in the text.
  Document(std::string text, DocumentFormat format, std::string_view language);

  /// In order; each is one line, not empty, without markup and references.
  const std::vector<std::string>& sentences() const { return sentences_; }

  /// Whether the sentence has markup inside, so that links show where it goes. Without links, tags go around the whole
  /// sentence.
  bool needs_links(size_t sentence) const;

  /// The text with each sentence replaced by its translation. Error if there are not as many as sentences. Links reach
  /// as far as their texts do; they may be wrong, and overlap.
  std::string assemble(std::span<const TranslatedSentence> translations) const;

 private:
  void find_lines(std::string_view language);
  void find_elements(std::string_view language);
  bool lacks_blank(size_t sentence, std::span<const TranslatedSentence> translations) const;

  std::string text_;
  DocumentFormat format_;
  std::vector<ByteRange> ranges_;  // of the sentences in the text
  std::vector<std::string> sentences_;
  std::vector<InlineMarkup> markup_;  // one a sentence of HTML
};

}  // namespace dragoman
