#pragma once
#include <span>
#include <string>
#include <vector>

#include "io/model_file.h"
#include "vocab/listed_vocabulary.h"

namespace dragoman {

/// A folder that appears whole or not at all: files are written to a temporary one beside it, which commit() renames.
class OutputFolder {
 public:
  /// Error if a file or folder of this name exists.
  explicit OutputFolder(const std::string& path);
  ~OutputFolder();  // removes what was not committed
  OutputFolder(const OutputFolder&) = delete;

  std::string file(const std::string& name) const { return temporary_ + "/" + name; }
  void write(const std::string& name, std::string_view text) const;
  void commit();

 private:
  std::string path_, temporary_;
  bool committed_ = false;
};

/// Error, naming the field, if the model differs from `fixed` in other keys of its configuration than these
/// (docs/model_format.md) and those that every program has; fields for training alone may differ. `program` names the
/// program in the error.
void require_fields(const ModelFile& model, std::span<const std::string_view> keys, const std::string& program,
                    const ModelConfig& fixed = {});

/// A weight as it is stored, in floating point: 8 bits become float32. The model must outlive it.
TensorEntry floating(const ModelFile& model, const std::string& weight);

/// Any such tensor as float32.
std::vector<float> floats_of(const TensorEntry& tensor);

/// (cols,rows) of values (rows,cols).
std::vector<float> transposed(const std::vector<float>& values, int64_t rows, int64_t cols);

/// The SentencePiece model that splits text, for programs that have lists of pieces beside it. Error, naming `side`,
/// for a vocabulary without SentencePiece.
std::string sentencepiece_of(const Vocabulary& vocabulary, const std::string& side);

/// Writes the file that splits the text of a side, for programs that have lists of pieces beside it: SIDE.spm or, for
/// subword-nmt, SIDE.bpe. Writes nothing for a vocabulary of text that is already split.
void write_splitting(const OutputFolder& folder, const Vocabulary& vocabulary, const std::string& side);

/// Pieces by id.
std::vector<std::string> pieces_of(const Vocabulary& vocabulary);

}  // namespace dragoman
