#include <sentencepiece_processor.h>

#include "vocab/segmentation.h"
#include "vocab/sentencepiece_model.h"

namespace dragoman {
namespace {

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
    return {pieces.text(), ranges_of(pieces, *processor_)};
  }

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
