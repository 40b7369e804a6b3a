#pragma once
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/enum_names.h"
#include "vocab/piece_model.h"

namespace dragoman {

/// What splits the text of a listed vocabulary (segmentation.h).
enum class SegmentationKind { sentencepiece, tokens, bpe };

inline std::span<const EnumName<SegmentationKind>> enum_names(SegmentationKind) {
  static constexpr EnumName<SegmentationKind> names[] = {{SegmentationKind::sentencepiece, "sentencepiece"},
                                                         {SegmentationKind::tokens, "tokens"},
                                                         {SegmentationKind::bpe, "bpe"}};
  return names;
}

/// A vocabulary of another program: ids are those of a list of pieces, and a segmentation splits the text. The
/// list may be larger or smaller than the segmentation's; a piece that it lacks is unknown. A line may begin
/// with the code of a language that the list holds, as for OPUS-MT: ">>fra<< Hello".
struct ListedVocabulary {
  SegmentationKind segmentation = SegmentationKind::tokens;
  SpecialPieces special = {};            // unk and eos are required
  std::vector<std::string> pieces = {};  // by id, without duplicates; any bytes but NUL
  std::string model = {};                // a SentencePiece model, or subword-nmt's file of merges; empty for tokens
  std::string model_name = {};           // what messages call the model; empty: as the vocabulary
};

/// The largest accepted number of a model's rows without a piece: some programs round sizes up. A file may claim any
/// number of rows, each of which would become a piece.
constexpr int64_t most_unused = 1 << 16;

/// What the pieces that fill_up() adds begin with.
constexpr std::string_view unused_piece = "<unused ";

/// Extends the list to the number of rows of a model; the added pieces are never used.
void fill_up(ListedVocabulary& vocabulary, int size);

/// Checks the vocabulary. Throws Error; `name` is what messages call it.
std::shared_ptr<const PieceModel> listed_model(ListedVocabulary vocabulary, const std::string& name);

}  // namespace dragoman
