#include <fmt/format.h>

#include "base/error.h"
#include "vocab/blanks.h"
#include "vocab/bpe_merges.h"
#include "vocab/segmentation.h"

namespace dragoman {
namespace {

constexpr std::string_view continues = "@@";  // ends a piece that does not end its word

class BpeSegmentation : public Segmentation {
 public:
  BpeSegmentation(std::string_view merges, const std::string& name) : merges_(merges, name) {}

  std::vector<std::string> encode(std::string_view line) const override {
    std::vector<std::string> pieces;
    for (const std::string_view word : split_at_blanks(line)) {
      for (const std::string_view part : merges_.split(word)) pieces.emplace_back(part).append(continues);
      pieces.back().resize(pieces.back().size() - continues.size());
    }
    return pieces;
  }

  std::vector<std::string> sample(std::string_view, double alpha) const override {
    throw Error(fmt::format("a vocabulary of merges has one segmentation of a line; alpha {} asks for others", alpha),
                "leave --sentencepiece-alphas and --alpha out: only SentencePiece samples segmentations");
  }

  std::string decode(const std::vector<std::string>& pieces) const override {
    std::string text;
    for (const std::string& piece : pieces) {
      const bool more = piece.ends_with(continues);
      text.append(piece, 0, piece.size() - (more ? continues.size() : 0)).append(more ? "" : " ");
    }
    if (text.ends_with(' ')) text.pop_back();
    return text;
  }

  std::string unknown() const override { return "⁇"; }

 private:
  const BpeMerges merges_;
};

}  // namespace

std::unique_ptr<const Segmentation> bpe_segmentation(std::string_view merges, const std::string& name) {
  return std::make_unique<BpeSegmentation>(merges, name);
}

}  // namespace dragoman
