#pragma once
#include <string>
#include <string_view>

#include "text/inline_markup.h"
#include "text/translated_sentence.h"

namespace dragoman {

/// Whether links are needed to place the markup of the sentence. False if the sentence has no markup, or so much that
/// placing it would take too long: its tags then go around the whole.
bool needs_links(std::string_view sentence, const InlineMarkup& markup);

/// The translation of a sentence as HTML: its text with "&", "<" and ">" as references, and each marker once. Without
/// links, elements go around the whole text, and lone markers before it.
std::string to_html(const TranslatedSentence& translation, std::string_view sentence, const InlineMarkup& markup);

}  // namespace dragoman
