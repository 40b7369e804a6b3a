#include <sentencepiece_processor.h>

#include "vocab/segmentation.h"
#include "vocab/sentencepiece_model.h"

namespace dragoman {
namespace {

class SentencePieceSegmentation : public Segmentation {
 public:
  SentencePieceSegmentation(const std::string& model, const std::string& name)
      : processor_(load_sentencepiece(model, name)) {}

  std::vector<std::string> encode(std::string_view line) const override {
    std::vector<std::string> pieces;
    check(processor_->Encode(line, &pieces));
    return pieces;
  }

  std::vector<std::string> sample(std::string_view line, double alpha) const override {
    std::vector<std::string> pieces;
    check(processor_->SampleEncode(line, whole_lattice, float(alpha), &pieces));
    return pieces;
  }

  std::string decode(const std::vector<std::string>& pieces) const override {
    std::string text;
    check(processor_->Decode(pieces, &text));
    return text;
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
