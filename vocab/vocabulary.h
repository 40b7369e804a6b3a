#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vocab/pieces_in_text.h"

namespace dragoman {

class PieceModel;
struct ListedVocabulary;

/// Converts text to ids of pieces and back: a SentencePiece model (Kudo and Richardson 2018), or a list of pieces of
/// another program (listed_vocabulary.h). Copies share the model, which never changes; all members may be called from
/// several threads at once. Ids are in [0, size()). Special pieces written out in text (`</s>`, `<unk>`, `<0x41>`)
/// are plain text like any other.
class Vocabulary {
 public:
  /// What from_bytes() takes, or a list of tokens: .yml, .yaml, .json or .txt, with Marian's ids (piece_list.h).
  static Vocabulary load(const std::string& path);
  static Vocabulary from_bytes(std::string bytes,
                               const std::string& name);  // `name` is what messages call the bytes
  static Vocabulary from_list(ListedVocabulary vocabulary, const std::string& name);

  /// A SentencePiece model, byte by byte, or the container of a list (docs/model_format.md).
  const std::string& bytes() const { return *bytes_; }
  /// Whether the other has the same ids for the same pieces: it was made from the same bytes.
  bool is_same_as(const Vocabulary& other) const { return bytes_ == other.bytes_ || *bytes_ == *other.bytes_; }
  int size() const;
  int32_t unk() const;
  int32_t bos() const;  // -1 if the model has none, as in other programs' models
  int32_t eos() const;
  int32_t pad() const;                // -1 if the model has none
  bool is_special(int32_t id) const;  // one of these four
  bool is_control(int32_t id) const;  // another piece that never occurs in text, such as the code of a language
  const std::string& piece(int32_t id) const;
  std::optional<int32_t> find(std::string_view piece) const;  // the id of this piece, special ones included
  bool is_byte(int32_t id) const;
  bool has_byte_fallback() const;

  /// The best segmentation, without end of sentence.
  std::vector<int32_t> encode(std::string_view line) const;

  /// The same, with the bytes of the line that each piece comes from.
  EncodedLine encode_with_offsets(std::string_view line) const;

  /// The same as written pieces; characters that the vocabulary lacks are kept as they are.
  std::vector<std::string> encode_pieces(std::string_view line) const;

  /// A line whose blanks already separate pieces (--no-spm-encode). Words that are not pieces become unk(), as does
  /// </s>.
  std::vector<int32_t> encode_given_pieces(std::string_view line) const;

  /// One random segmentation per line. For bpe, alpha is the probability of leaving out a merge (BPE-dropout, Provilkov
  /// et al. 2020; 0.1 is usual); for unigram the exponent on the probabilities of segmentations (Kudo 2018; 0.1 to
  /// 0.5), smaller is more random. 0 is the best segmentation for both. The same lines, alpha and seed give the same
  /// pieces. Only one block is sampled at a time in the process, whatever the thread or vocabulary: the library allows
  /// no more. Error with an alpha above 0 for vocabularies without SentencePiece.
  std::vector<std::vector<int32_t>> encode_block(std::span<const std::string> lines, double alpha, uint64_t seed) const;

  /// Always one line: byte pieces can spell a line break, which becomes a blank. Special pieces are dropped, except
  /// unk(), which becomes " ⁇ ".
  std::string decode(std::span<const int32_t> ids) const;

  /// The same, with the bytes of the text that come from each piece.
  DecodedText decode_with_offsets(std::span<const int32_t> ids) const;

  /// What a piece adds to a text between others, with the blanks that it stands for; of a byte piece the byte. decode()
  /// leaves out blanks at the ends of the text.
  std::string text_of(int32_t id) const;

  /// The inverse of encode_pieces: words that are not pieces are kept as they are.
  std::string decode_pieces(const std::vector<std::string>& pieces) const;

 private:
  Vocabulary(std::string bytes, std::shared_ptr<const PieceModel> model)
      : bytes_(std::make_shared<const std::string>(std::move(bytes))), model_(std::move(model)) {}
  void require_inside(int32_t id) const;
  std::shared_ptr<const std::string> bytes_;
  std::shared_ptr<const PieceModel> model_;
};

}  // namespace dragoman
