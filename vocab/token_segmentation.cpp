#include <fmt/format.h>

#include "base/error.h"
#include "base/words.h"
#include "vocab/continued_pieces.h"
#include "vocab/segmentation.h"

namespace dragoman {
namespace {

class TokenSegmentation : public Segmentation {
 public:
  WrittenLine encode(std::string_view line) const override {
    WrittenLine written;
    for (const std::string_view word : split_at_blanks(line)) {
      const auto begin = size_t(word.data() - line.data());
      written.pieces.emplace_back(word);
      written.ranges.push_back({begin, begin + word.size()});
    }
    return written;
  }

  std::vector<std::string> sample(std::string_view, double alpha) const override {
    throw Error(fmt::format("a vocabulary of tokens cannot sample segmentations, found alpha {}, expected 0", alpha),
                "leave --sentencepiece-alphas and --alpha out: only SentencePiece samples segmentations");
  }

  DecodedText decode(const std::vector<std::string>& pieces) const override {
    DecodedText decoded;
    for (const std::string& piece : pieces) {
      if (!decoded.ranges.empty()) decoded.text += ' ';
      decoded.ranges.push_back({decoded.text.size(), decoded.text.size() + piece.size()});
      decoded.text += piece;
    }
    return decoded;
  }

  std::string text_of(const std::string& piece) const override { return piece + ' '; }

  std::string unknown() const override { return "⁇"; }
};

class ContinuedSegmentation : public TokenSegmentation {
 public:
  DecodedText decode(const std::vector<std::string>& pieces) const override { return join_continued(pieces); }

  std::string text_of(const std::string& piece) const override { return text_of_continued(piece); }
};

}  // namespace

std::unique_ptr<const Segmentation> token_segmentation() { return std::make_unique<TokenSegmentation>(); }

std::unique_ptr<const Segmentation> continued_segmentation() { return std::make_unique<ContinuedSegmentation>(); }

}  // namespace dragoman
