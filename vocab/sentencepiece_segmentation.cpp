#include <sentencepiece_processor.h>

#include "vocab/segmentation.h"
#include "vocab/sentencepiece_model.h"

namespace dragoman {
namespace {

// The library leaves U+2581 in pieces that the model lacks but a list may hold. Blanks at the beginning are dropped.
DecodedText with_blanks(DecodedText decoded) {
  constexpr std::string_view blank = "\u2581";
  if (decoded.text.find(blank) == std::string::npos) return decoded;
  std::string text;
  std::vector<size_t> moved_to;  // by byte of the decoded text
  for (std::string_view rest = decoded.text; !rest.empty();) {
    const bool is_blank = rest.starts_with(blank);
    const size_t bytes = is_blank ? blank.size() : 1;
    moved_to.insert(moved_to.end(), bytes, text.size());
    if (!is_blank || !text.empty()) text += is_blank ? ' ' : rest.front();
    rest.remove_prefix(bytes);
  }
  moved_to.push_back(text.size());
  for (ByteRange& range : decoded.ranges) range = {moved_to[range.begin], moved_to[range.end]};
  return {std::move(text), std::move(decoded.ranges)};
}

class SentencePieceSegmentation : public Segmentation {
 public:
  SentencePieceSegmentation(const std::string& model, const std::string& name)
      : processor_(load_sentencepiece(model, name)) {}

  WrittenLine encode(std::string_view line) const override {
    sentencepiece::ImmutableSentencePieceText pieces;
    check(processor_->Encode(line, pieces.mutable_proto()));
    WrittenLine written{.pieces = {}, .ranges = ranges_of(pieces, *processor_)};
    written.pieces.reserve(written.ranges.size());
    for (size_t i = 0; i < written.ranges.size(); ++i) written.pieces.push_back(pieces.pieces(int(i)).piece());
    return written;
  }

  std::vector<std::string> sample(std::string_view line, double alpha) const override {
    std::vector<std::string> pieces;
    check(processor_->SampleEncode(line, whole_lattice, float(alpha), &pieces));
    return pieces;
  }

  DecodedText decode(const std::vector<std::string>& written) const override {
    sentencepiece::ImmutableSentencePieceText pieces;
    check(processor_->Decode(written, pieces.mutable_proto()));
    return with_blanks({pieces.text(), ranges_of(pieces, *processor_)});
  }

  std::string text_of(const std::string& piece) const override { return dragoman::text_of(piece, *processor_); }
  std::string unknown() const override { return processor_->IdToPiece(processor_->unk_id()); }
  bool is_byte(const std::string& piece) const override { return processor_->IsByte(processor_->PieceToId(piece)); }

 private:
  const std::shared_ptr<const sentencepiece::SentencePieceProcessor> processor_;
};

}  // namespace

std::unique_ptr<const Segmentation> sentencepiece_segmentation(const std::string& model, const std::string& name) {
  return std::make_unique<SentencePieceSegmentation>(model, name);
}

}  // namespace dragoman
