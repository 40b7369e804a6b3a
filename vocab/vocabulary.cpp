#include "vocab/vocabulary.h"

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "base/file_kind.h"
#include "base/words.h"
#include "vocab/container.h"
#include "vocab/piece_list.h"
#include "vocab/sampling.h"
#include "vocab/sentencepiece_model.h"

namespace dragoman {
namespace {

std::string one_line(std::string text) {
  for (char& c : text)
    if (c == '\n' || c == '\r') c = ' ';
  return text;
}

// A file of another kind may have a name like that of a list.
bool is_list(std::string_view bytes, const std::string& path) {
  return is_piece_list(path) && !is_container(bytes) && kind_of_binary(bytes.substr(0, 512)).empty();
}

}  // namespace

Vocabulary Vocabulary::load(const std::string& path) {
  const MappedFile file(path);
  const std::string_view bytes(reinterpret_cast<const char*>(file.data()), file.size());
  if (!is_list(bytes, path)) return from_bytes(std::string(bytes), path);
  std::vector<std::string> pieces = pieces_of_file(bytes, path);
  SpecialPieces special = marian_special(pieces);
  return from_list({.special = std::move(special), .pieces = std::move(pieces)}, path);
}

Vocabulary Vocabulary::from_bytes(std::string bytes, const std::string& name) {
  auto model = is_container(bytes) ? listed_model(from_container(bytes, name), name) : sentencepiece_model(bytes, name);
  return {std::move(bytes), std::move(model)};
}

Vocabulary Vocabulary::from_list(ListedVocabulary vocabulary, const std::string& name) {
  std::string bytes = to_container(vocabulary);
  return {std::move(bytes), listed_model(std::move(vocabulary), name)};
}

int Vocabulary::size() const { return model_->size(); }
int32_t Vocabulary::unk() const { return model_->special().unk; }
int32_t Vocabulary::bos() const { return model_->special().bos; }
int32_t Vocabulary::eos() const { return model_->special().eos; }
int32_t Vocabulary::pad() const { return model_->special().pad; }
bool Vocabulary::is_special(int32_t id) const { return id == unk() || id == bos() || id == eos() || id == pad(); }
bool Vocabulary::is_control(int32_t id) const { return std::ranges::count(model_->special().control, id) > 0; }

void Vocabulary::require_inside(int32_t id) const {
  require(id >= 0 && id < size(), "piece {} is outside of a vocabulary of {}", id, size());
}

const std::string& Vocabulary::piece(int32_t id) const {
  require_inside(id);
  return model_->piece(id);
}

std::optional<int32_t> Vocabulary::find(std::string_view piece) const { return model_->find(piece); }

bool Vocabulary::is_byte(int32_t id) const { return model_->is_byte(id); }

bool Vocabulary::has_byte_fallback() const { return model_->has_byte_fallback(); }

std::vector<int32_t> Vocabulary::encode(std::string_view line) const { return model_->encode(line).ids; }

EncodedLine Vocabulary::encode_with_offsets(std::string_view line) const { return model_->encode(line); }

std::vector<std::string> Vocabulary::encode_pieces(std::string_view line) const { return model_->encode_pieces(line); }

std::vector<int32_t> Vocabulary::encode_given_pieces(std::string_view line) const {
  std::vector<int32_t> ids;
  for (const std::string_view piece : split_at_blanks(line)) ids.push_back(model_->given_id(piece));
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
    for (size_t i = 0; i < lines.size(); ++i) block[i] = model_->sample(lines[i], alpha);
  });
  return block;
}

std::string Vocabulary::decode(std::span<const int32_t> ids) const { return decode_with_offsets(ids).text; }

DecodedText Vocabulary::decode_with_offsets(std::span<const int32_t> ids) const {
  for (const int32_t id : ids) require_inside(id);
  DecodedText decoded = model_->decode(ids);
  decoded.text = one_line(std::move(decoded.text));
  return decoded;
}

std::string Vocabulary::text_of(int32_t id) const {
  require_inside(id);
  return one_line(model_->text_of(id));
}

std::string Vocabulary::decode_pieces(const std::vector<std::string>& pieces) const {
  return one_line(model_->decode_pieces(pieces));
}

}  // namespace dragoman
