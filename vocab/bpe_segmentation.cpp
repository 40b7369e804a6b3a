#include <fmt/format.h>

#include "base/error.h"
#include "base/words.h"
#include "vocab/bpe_merges.h"
#include "vocab/continued_pieces.h"
#include "vocab/segmentation.h"

namespace dragoman {
namespace {

class BpeSegmentation : public Segmentation {
 public:
  BpeSegmentation(std::string_view merges, const std::string& name) : merges_(merges, name) {}

  WrittenLine encode(std::string_view line) const override {
    WrittenLine written;
    for (const std::string_view word : split_at_blanks(line)) {
      for (const std::string_view part : merges_.split(word)) {
        const auto begin = size_t(part.data() - line.data());
        written.pieces.emplace_back(part).append(continuation_mark);
        written.ranges.push_back({begin, begin + part.size()});
      }
      written.pieces.back().resize(written.pieces.back().size() - continuation_mark.size());
    }
    return written;
  }

  std::vector<std::string> sample(std::string_view, double alpha) const override {
    throw Error(fmt::format("a vocabulary of merges cannot sample segmentations, found alpha {}, expected 0", alpha),
                "leave --sentencepiece-alphas and --alpha out: only SentencePiece samples segmentations");
  }

  DecodedText decode(const std::vector<std::string>& pieces) const override { return join_continued(pieces); }

  std::string text_of(const std::string& piece) const override { return text_of_continued(piece); }

  std::string unknown() const override { return "⁇"; }

 private:
  const BpeMerges merges_;
};

}  // namespace

std::unique_ptr<const Segmentation> bpe_segmentation(std::string_view merges, const std::string& name) {
  return std::make_unique<BpeSegmentation>(merges, name);
}

}  // namespace dragoman
