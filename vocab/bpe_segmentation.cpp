#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/words.h"
#include "vocab/bpe_merges.h"
#include "vocab/segmentation.h"

namespace dragoman {
namespace {

constexpr std::string_view continues = "@@";  // ends a piece that does not end its word

class BpeSegmentation : public Segmentation {
 public:
  BpeSegmentation(std::string_view merges, const std::string& name) : merges_(merges, name) {}

  WrittenLine encode(std::string_view line) const override {
    WrittenLine written;
    for (const std::string_view word : split_at_blanks(line)) {
      for (const std::string_view part : merges_.split(word)) {
        const auto begin = size_t(part.data() - line.data());
        written.pieces.emplace_back(part).append(continues);
        written.ranges.push_back({begin, begin + part.size()});
      }
      written.pieces.back().resize(written.pieces.back().size() - continues.size());
    }
    return written;
  }

  std::vector<std::string> sample(std::string_view, double alpha) const override {
    throw Error(fmt::format("a vocabulary of merges cannot sample segmentations, found alpha {}, expected 0", alpha),
                "leave --sentencepiece-alphas and --alpha out: only SentencePiece samples segmentations");
  }

  DecodedText decode(const std::vector<std::string>& pieces) const override {
    DecodedText decoded;
    std::string& text = decoded.text;
    for (const std::string& piece : pieces) {
      const bool more = piece.ends_with(continues);
      const size_t bytes = piece.size() - (more ? continues.size() : 0);
      decoded.ranges.push_back({text.size(), text.size() + bytes});
      text.append(piece, 0, bytes).append(more ? "" : " ");
    }
    if (text.ends_with(' ')) text.pop_back();
    for (ByteRange& range : decoded.ranges) range.end = std::min(range.end, text.size());
    return decoded;
  }

  std::string text_of(const std::string& piece) const override {
    return piece.ends_with(continues) ? piece.substr(0, piece.size() - continues.size()) : piece + ' ';
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
