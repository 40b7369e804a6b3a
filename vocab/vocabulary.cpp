#include "vocab/vocabulary.h"

#include <sentencepiece_processor.h>

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "base/file_kind.h"
#include "vocab/model_check.h"
#include "vocab/sampling.h"

namespace dragoman {
namespace {

// Nothing that a user does makes encoding fail; a status that is not ok is still never dropped.
void check(const sentencepiece::util::Status& status) {
  require(status.ok(), "SentencePiece: {}", status.error_message());
}

std::string one_line(std::string text) {
  for (char& c : text)
    if (c == '\n' || c == '\r') c = ' ';
  return text;
}

// What is no model at all is a bad status; of a damaged one the library's data structures may throw on their own.
bool load_into(sentencepiece::SentencePieceProcessor& processor, const std::string& bytes) {
  try {
    return processor.LoadFromSerializedProto(bytes).ok() && processor.GetPieceSize() > 0;
  } catch (const std::exception&) {
    return false;
  }
}

constexpr int whole_lattice = -1;  // sample from all segmentations, not from the n best

}  // namespace

Vocabulary Vocabulary::load(const std::string& path) {
  const MappedFile file(path);
  return from_bytes({reinterpret_cast<const char*>(file.data()), file.size()}, path);
}

Vocabulary Vocabulary::from_bytes(std::string bytes, const std::string& name) {
  const std::string fault = fault_of_model(bytes);
  auto processor = std::make_shared<sentencepiece::SentencePieceProcessor>();
  if (!fault.empty() || !load_into(*processor, bytes)) {
    const std::string_view kind = kind_of_file(std::string_view(bytes).substr(0, 512));
    if (!kind.empty() && kind != "a SentencePiece model")
      throw Error(
          fmt::format("{} is {}, expected a SentencePiece model", name, kind),
          "dragoman vocab train makes one from text; a model of dragoman holds its own, for translate and score");
    throw Error(name + " is not a SentencePiece model, or only a part of one",
                (fault.empty() ? "" : fault + "; ") + "dragoman vocab train makes one from text");
  }
  require(processor->unk_id() >= 0 && processor->eos_id() >= 0,
          "{}: the vocabulary has no unknown piece or no end of sentence, expected both", name);
  return {std::make_shared<const std::string>(std::move(bytes)), std::move(processor)};
}

int Vocabulary::size() const { return processor_->GetPieceSize(); }
int32_t Vocabulary::unk() const { return processor_->unk_id(); }
int32_t Vocabulary::bos() const { return processor_->bos_id(); }
int32_t Vocabulary::eos() const { return processor_->eos_id(); }
int32_t Vocabulary::pad() const { return processor_->pad_id(); }
bool Vocabulary::is_special(int32_t id) const { return id == unk() || id == bos() || id == eos() || id == pad(); }

const std::string& Vocabulary::piece(int32_t id) const {
  require(id >= 0 && id < size(), "piece {} is outside of a vocabulary of {}", id, size());
  return processor_->IdToPiece(id);
}

bool Vocabulary::is_byte(int32_t id) const { return processor_->IsByte(id); }

bool Vocabulary::has_byte_fallback() const { return processor_->IsByte(processor_->PieceToId("<0x00>")); }

std::vector<int32_t> Vocabulary::encode(std::string_view line) const {
  std::vector<int32_t> ids;
  check(processor_->Encode(line, &ids));
  return ids;
}

std::vector<std::string> Vocabulary::encode_pieces(std::string_view line) const {
  std::vector<std::string> pieces;
  check(processor_->Encode(line, &pieces));
  return pieces;
}

std::vector<int32_t> Vocabulary::encode_given_pieces(std::string_view line) const {
  std::vector<int32_t> ids;
  while (!line.empty()) {
    const size_t blank = std::min(line.find(' '), line.size());
    if (blank > 0) {
      const int32_t id = processor_->PieceToId(line.substr(0, blank));
      ids.push_back(processor_->IsControl(id) ? unk() : id);
    }
    line.remove_prefix(std::min(blank + 1, line.size()));
  }
  return ids;
}

std::vector<std::vector<int32_t>> Vocabulary::encode_block(std::span<const std::string> lines, double alpha,
                                                           uint64_t seed) const {
  std::vector<std::vector<int32_t>> block(lines.size());
  if (alpha == 0) {
    std::transform(lines.begin(), lines.end(), block.begin(), [&](const auto& line) { return encode(line); });
    return block;
  }
  with_sampling_seed(seed, [&] {
    for (size_t i = 0; i < lines.size(); ++i)
      check(processor_->SampleEncode(lines[i], whole_lattice, float(alpha), &block[i]));
  });
  return block;
}

std::string Vocabulary::decode(std::span<const int32_t> ids) const {
  for (const int32_t id : ids) require(id >= 0 && id < size(), "piece {} is outside of a vocabulary of {}", id, size());
  std::string text;
  check(processor_->Decode(std::vector<int>(ids.begin(), ids.end()), &text));
  return one_line(std::move(text));
}

std::string Vocabulary::decode_pieces(const std::vector<std::string>& pieces) const {
  std::string text;
  check(processor_->Decode(pieces, &text));
  return one_line(std::move(text));
}

}  // namespace dragoman
