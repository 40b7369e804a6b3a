#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "vocab/pieces_in_text.h"

namespace dragoman {

/// subword-nmt's way to write pieces (Sennrich et al. 2016): one that does not end its word ends with this mark.
inline constexpr std::string_view continuation_mark = "@@";

/// The text of such pieces, with blanks between words: "low@@", "er", "e" is "lower e". The last piece ends its word.
DecodedText join_continued(const std::vector<std::string>& pieces);

/// What the piece adds to a text between others: "low" for "low@@", "er " for "er".
std::string text_of_continued(const std::string& piece);

/// Whether a list of tokens is one of such pieces: at least one in a hundred has the mark. Crawled words that end with
/// it by chance are fewer.
bool has_continued_pieces(const std::vector<std::string>& pieces);

}  // namespace dragoman
