#pragma once
#include <string_view>

namespace dragoman {

/// The kind of a file by its first bytes, for messages: "text", "gzip data", "a SentencePiece model", "a safetensors
/// file", "a Marian model (.bin)"; empty if unknown. A few hundred bytes are enough.
std::string_view kind_of_file(std::string_view begin);

/// The same, but only for content that cannot start UTF-8 text: empty for text and for unknown content.
std::string_view kind_of_binary(std::string_view begin);

}  // namespace dragoman
