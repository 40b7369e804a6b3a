#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vocab/pieces_in_text.h"
#include "vocab/special_pieces.h"

namespace dragoman {

/// The model of a Vocabulary: a SentencePiece model, or a list of pieces with a Segmentation. Immutable, so that all
/// members may be called from several threads at once. Ids passed in are in [0, size()).
class PieceModel {
 public:
  explicit PieceModel(SpecialPieces special) : special_(std::move(special)) {}
  virtual ~PieceModel() = default;

  const SpecialPieces& special() const { return special_; }
  virtual int size() const = 0;
  virtual const std::string& piece(int32_t id) const = 0;
  virtual std::optional<int32_t> find(std::string_view piece) const = 0;
  virtual int32_t given_id(std::string_view piece) const = 0;  // of a piece in text that is already split
  virtual bool is_byte(int32_t id) const = 0;
  virtual bool has_byte_fallback() const = 0;

  virtual EncodedLine encode(std::string_view line) const = 0;
  virtual std::vector<std::string> encode_pieces(std::string_view line) const = 0;
  virtual std::vector<int32_t> sample(std::string_view line, double alpha) const = 0;  // in with_sampling_seed()
  virtual DecodedText decode(std::span<const int32_t> ids) const = 0;
  virtual std::string text_of(int32_t id) const = 0;  // Vocabulary::text_of
  virtual std::string decode_pieces(const std::vector<std::string>& pieces) const = 0;

 private:
  const SpecialPieces special_;
};

}  // namespace dragoman
