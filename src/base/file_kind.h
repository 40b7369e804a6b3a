#pragma once
#include <string_view>

namespace dragoman {

/// What a file is by its first bytes, for messages: "text", "gzip data", "a SentencePiece model", "a safetensors file",
/// "a model of Marian (.bin)"; empty when nobody knows. A few hundred bytes are enough.
std::string_view kind_of_file(std::string_view begin);

/// The same of what no text in UTF-8 begins with: empty for text, and for what is unknown.
std::string_view kind_of_binary(std::string_view begin);

}  // namespace dragoman
