#include <fmt/format.h>

#include "base/error.h"
#include "vocab/blanks.h"
#include "vocab/segmentation.h"

namespace dragoman {
namespace {

class TokenSegmentation : public Segmentation {
 public:
  std::vector<std::string> encode(std::string_view line) const override {
    const auto words = split_at_blanks(line);
    return {words.begin(), words.end()};
  }

  std::vector<std::string> sample(std::string_view, double alpha) const override {
    throw Error(fmt::format("a vocabulary of tokens has one segmentation of a line; alpha {} asks for others", alpha),
                "leave --sentencepiece-alphas and --alpha out: only SentencePiece samples segmentations");
  }

  std::string decode(const std::vector<std::string>& pieces) const override {
    return fmt::format("{}", fmt::join(pieces, " "));
  }

  std::string unknown() const override { return "⁇"; }
};

}  // namespace

std::unique_ptr<const Segmentation> token_segmentation() { return std::make_unique<TokenSegmentation>(); }

}  // namespace dragoman
