#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "io/model_file.h"
#include "vocab/listed_vocabulary.h"

namespace dragoman {

/// A folder that is being written.
class OutputFolder {
 public:
  explicit OutputFolder(std::string path) : path_(std::move(path)) {}
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  void write(const std::string& name, std::string_view text) const;

 private:
  std::string path_;
};

/// Error unless a folder can be created under this name: nothing may have it, and the folder that it is in must exist.
void require_new_folder(const std::string& path);

/// Writes a folder that appears complete or not at all: `write` fills a temporary folder beside it, which is renamed
/// then, or removed after an error. Errors of `write` name the files by their final paths. Error unless the folder is
/// new.
void write_folder(const std::string& path, const std::function<void(const OutputFolder&)>& write);

/// Throws an Error that names all fields of the model's configuration (docs/model_format.md) that differ from `fixed`
/// and are neither in `keys` nor supported by every program. Fields that only training uses may differ. `program` is
/// the program's name in the error; `advice` begins its hint.
void require_fields(const ModelFile& model, std::span<const std::string_view> keys, const std::string& program,
                    const ModelConfig& fixed = {}, const std::string& advice = "");

constexpr bool is_floating(DType type) { return type == DType::f64 || type == DType::f32 || is_half(type); }

/// A weight as it is stored, except that 8 bits become float32. The model must outlive the result.
TensorEntry floating(const ModelFile& model, const std::string& weight);

/// The values of a floating-point tensor as float32.
std::vector<float> floats_of(const TensorEntry& tensor);

/// The tensors of floating-point numbers that hold NaN or infinity, by name. Reads the whole file.
std::vector<std::string> tensors_not_finite(const SafetensorsFile& file);

/// Error, naming the tensor, if the model has one: other programs would read it without a word.
void require_finite_weights(const ModelFile& model);

/// The same for weights that are made when they are written: each throws when it is made.
std::vector<TensorEntry> finite_when_made(std::vector<TensorEntry> weights, const std::string& path);

/// The transpose (cols,rows) of values (rows,cols).
std::vector<float> transposed(const std::vector<float>& values, int64_t rows, int64_t cols);

/// The SentencePiece model of a vocabulary, for programs that store token lists separately. Error, naming `side`, for a
/// vocabulary without SentencePiece.
std::string sentencepiece_of(const Vocabulary& vocabulary, const std::string& side);

/// Writes the tokenizer file of a side, for programs that store token lists separately: SIDE.spm or, for subword-nmt,
/// SIDE.bpe. Writes nothing if the vocabulary is for text that is already tokenised.
void write_splitting(const OutputFolder& folder, const Vocabulary& vocabulary, const std::string& side);

/// Pieces by id, for lists in JSON. Error, naming `side`, for a piece that is not UTF-8, which JSON cannot hold.
std::vector<std::string> pieces_of(const Vocabulary& vocabulary, const std::string& side);

}  // namespace dragoman
