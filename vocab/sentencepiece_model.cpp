#include "vocab/sentencepiece_model.h"

#include <sentencepiece_processor.h>

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "base/file_kind.h"
#include "vocab/model_check.h"

namespace dragoman {
namespace {

using sentencepiece::ImmutableSentencePieceText;
using sentencepiece::SentencePieceProcessor;

// If the bytes are not a model, the status is an error; for a damaged one the library's data structures may throw.
bool load_into(SentencePieceProcessor& processor, const std::string& bytes) {
  try {
    return processor.LoadFromSerializedProto(bytes).ok() && processor.GetPieceSize() > 0;
  } catch (const std::exception&) {
    return false;
  }
}

SpecialPieces special_of(const SentencePieceProcessor& processor) {
  return {.unk = processor.unk_id(), .bos = processor.bos_id(), .eos = processor.eos_id(), .pad = processor.pad_id()};
}

class SentencePieceModel : public PieceModel {
 public:
  explicit SentencePieceModel(std::shared_ptr<const SentencePieceProcessor> processor)
      : PieceModel(special_of(*processor)), processor_(std::move(processor)) {}

  int size() const override { return processor_->GetPieceSize(); }
  const std::string& piece(int32_t id) const override { return processor_->IdToPiece(id); }
  bool is_byte(int32_t id) const override { return processor_->IsByte(id); }
  bool has_byte_fallback() const override { return processor_->IsByte(processor_->PieceToId("<0x00>")); }

  // PieceToId() takes what it does not know for the unknown piece.
  std::optional<int32_t> find(std::string_view piece) const override {
    const int32_t id = processor_->PieceToId(piece);
    return processor_->IdToPiece(id) == piece ? std::optional(id) : std::nullopt;
  }

  int32_t given_id(std::string_view piece) const override {
    const int32_t id = processor_->PieceToId(piece);
    return processor_->IsControl(id) ? special().unk : id;
  }

  EncodedLine encode(std::string_view line) const override {
    ImmutableSentencePieceText pieces;
    check(processor_->Encode(line, pieces.mutable_proto()));
    EncodedLine encoded{.ids = {}, .ranges = ranges_of(pieces, *processor_)};
    encoded.ids.reserve(encoded.ranges.size());
    for (size_t i = 0; i < encoded.ranges.size(); ++i) encoded.ids.push_back(int32_t(pieces.pieces(int(i)).id()));
    return encoded;
  }

  std::vector<std::string> encode_pieces(std::string_view line) const override {
    std::vector<std::string> pieces;
    check(processor_->Encode(line, &pieces));
    return pieces;
  }

  std::vector<int32_t> sample(std::string_view line, double alpha) const override {
    std::vector<int32_t> ids;
    check(processor_->SampleEncode(line, whole_lattice, float(alpha), &ids));
    return ids;
  }

  DecodedText decode(std::span<const int32_t> ids) const override {
    ImmutableSentencePieceText pieces;
    check(processor_->Decode(std::vector<int>(ids.begin(), ids.end()), pieces.mutable_proto()));
    return {pieces.text(), ranges_of(pieces, *processor_)};
  }

  std::string text_of(int32_t id) const override { return dragoman::text_of(piece(id), *processor_); }

  std::string decode_pieces(const std::vector<std::string>& pieces) const override {
    std::string text;
    check(processor_->Decode(pieces, &text));
    return text;
  }

 private:
  const std::shared_ptr<const SentencePieceProcessor> processor_;
};

}  // namespace

void check(const sentencepiece::util::Status& status) {
  require(status.ok(), "SentencePiece: {}", status.error_message());
}

// For the bytes of a character the library gives the last one the range, and those before an empty one at its start.
std::vector<ByteRange> ranges_of(const ImmutableSentencePieceText& pieces, const SentencePieceProcessor& processor) {
  std::vector<ByteRange> ranges(pieces.pieces_size());
  const size_t size = pieces.text().size();
  const auto is_byte = [&](size_t i) { return processor.IsByte(int(pieces.pieces(int(i)).id())); };
  for (size_t i = ranges.size(); i-- > 0;) {
    const auto piece = pieces.pieces(int(i));
    ranges[i] = {std::min<size_t>(piece.begin(), size), std::min<size_t>(piece.end(), size)};
    const bool follows = i + 1 < ranges.size() && ranges[i].size() == 0 && ranges[i + 1].begin == ranges[i].begin;
    if (follows && is_byte(i) && is_byte(i + 1)) ranges[i] = ranges[i + 1];
  }
  return ranges;
}

std::string text_of(const std::string& piece, const SentencePieceProcessor& processor) {
  constexpr std::string_view blank = "\u2581";
  const int id = processor.PieceToId(piece);
  if (processor.IsByte(id)) return {char(std::strtoul(piece.c_str() + 3, nullptr, 16))};  // of "<0xE2>"
  if (processor.IsControl(id)) return "";
  std::string text;
  if (processor.IsUnknown(id) && processor.IdToPiece(id) == piece) {
    check(processor.Decode(std::vector{id}, &text));
    return text;
  }
  for (std::string_view rest = piece; !rest.empty();) {
    const bool is_blank = rest.starts_with(blank);
    text += is_blank ? ' ' : rest.front();
    rest.remove_prefix(is_blank ? blank.size() : 1);
  }
  return text;
}

std::shared_ptr<const SentencePieceProcessor> load_sentencepiece(const std::string& bytes, const std::string& name) {
  const std::string fault = fault_of_model(bytes);
  auto processor = std::make_shared<SentencePieceProcessor>();
  if (!fault.empty() || !load_into(*processor, bytes)) {
    const std::string_view kind = kind_of_file(std::string_view(bytes).substr(0, 512));
    if (!kind.empty() && kind != "a SentencePiece model")
      throw Error(fmt::format("{} is {}, expected a SentencePiece model", name, kind),
                  "dragoman vocab train learns one from text; dragoman models contain their own");
    throw Error(name + " is not a SentencePiece model, or is truncated",
                (fault.empty() ? "" : fault + "; ") + "dragoman vocab train learns one from text");
  }
  return processor;
}

std::shared_ptr<const PieceModel> sentencepiece_model(const std::string& bytes, const std::string& name) {
  auto processor = load_sentencepiece(bytes, name);
  require(processor->unk_id() >= 0 && processor->eos_id() >= 0,
          "{}: the vocabulary has no unknown piece or no end of sentence, expected both", name);
  return std::make_shared<SentencePieceModel>(std::move(processor));
}

}  // namespace dragoman
