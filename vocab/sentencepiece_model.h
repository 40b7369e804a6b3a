#pragma once
#include <memory>

#include "vocab/piece_model.h"

namespace sentencepiece {
class ImmutableSentencePieceText;
class SentencePieceProcessor;
namespace util {
class Status;
}
}  // namespace sentencepiece

namespace dragoman {

constexpr int whole_lattice = -1;  // sample from all segmentations, not from the n best

/// Loads a SentencePiece model after checking what the library does not check. Throws Error; `name` is what messages
/// call the bytes.
std::shared_ptr<const sentencepiece::SentencePieceProcessor> load_sentencepiece(const std::string& bytes,
                                                                                const std::string& name);

/// No input makes encoding fail; a status that is not ok is still never ignored.
void check(const sentencepiece::util::Status& status);

/// The ranges of the pieces in the text that was encoded or decoded (pieces_in_text.h).
std::vector<ByteRange> ranges_of(const sentencepiece::ImmutableSentencePieceText& pieces,
                                 const sentencepiece::SentencePieceProcessor& processor);

/// Vocabulary::text_of for a written piece, which the model may lack.
std::string text_of(const std::string& piece, const sentencepiece::SentencePieceProcessor& processor);

/// A SentencePiece model that gives pieces and ids itself.
std::shared_ptr<const PieceModel> sentencepiece_model(const std::string& bytes, const std::string& name);

}  // namespace dragoman
