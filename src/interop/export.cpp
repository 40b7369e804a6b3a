#include "interop/export.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <random>

#include "base/error.h"
#include "io/config_json.h"
#include "io/finite.h"
#include "io/int8_weights.h"
#include "model/config_fields.h"
#include "vocab/container.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::byte>;

// A folder's name may end in slashes.
std::string without_slash(const std::string& path) {
  return path.substr(0, std::max<size_t>(1, path.find_last_not_of('/') + 1));
}

bool is_floating(DType type) { return type == DType::f64 || type == DType::f32 || is_half(type); }

Bytes restored(const TensorEntry& weight, const SafetensorsFile& file) {
  const std::vector<int8_t> numbers = values_of<int8_t>(weight);
  const std::vector<float> scales = values_of<float>(file.get(scale_name(weight.name)));
  const int64_t columns = weight.shape[1];
  std::vector<float> values(numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i) values[i] = scales[i / size_t(columns)] * float(numbers[i]);
  Bytes bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

// Fields that every program with a writer supports.
constexpr std::string_view expressible_everywhere[] = {"dim",
                                                       "encoder_layers",
                                                       "decoder_layers",
                                                       "heads",
                                                       "feed_forward",
                                                       "decoder_feed_forward",
                                                       "activation",
                                                       "tied_decoder_layers",
                                                       "output_bias",
                                                       "tied_embeddings_all",
                                                       "tied_embeddings",
                                                       "tied_embeddings_src",
                                                       "source_vocabulary",
                                                       "target_vocabulary",
                                                       "unk_id",
                                                       "bos_id",
                                                       "eos_id",
                                                       "pad_id"};

}  // namespace

OutputFolder::OutputFolder(const std::string& path)
    : path_(without_slash(path)), temporary_(fmt::format("{}.tmp-{}-{:08x}", path_, getpid(), std::random_device()())) {
  if (fs::exists(fs::symlink_status(path_)))
    throw Error(fmt::format("{} already exists, expected the name of a new folder", path),
                "give another name, or move it away first");
  const std::string parent = fs::path(path_).parent_path();
  std::error_code error;
  if (!parent.empty() && !fs::exists(parent, error))
    throw Error(fmt::format("{}: there is no folder {}", path, parent), "mkdir -p " + parent);
  fs::create_directory(temporary_, error);
  require(!error, "{}: cannot be created: {}", path, error.message());
}

OutputFolder::~OutputFolder() {
  std::error_code ignored;
  if (!committed_) fs::remove_all(temporary_, ignored);
}

void OutputFolder::write(const std::string& name, std::string_view text) const {
  write_atomically(file(name), [&](FileWriter& out) { out.write(text); });
}

void OutputFolder::commit() {
  std::error_code error;
  fs::rename(temporary_, path_, error);
  require(!error, "{}: cannot be created: {}", path_, error.message());
  committed_ = true;
}

void require_fields(const ModelFile& model, std::span<const std::string_view> keys, const std::string& program,
                    const ModelConfig& fixed, const std::string& advice) {
  ModelConfig config = model.config(), expressible = fixed;
  for (const ConfigField& field : model_config_fields())
    if (field.training_only || !has_field(config, field) || std::ranges::count(keys, field.key) > 0 ||
        std::ranges::count(expressible_everywhere, field.key) > 0)
      assign(field.member(expressible), field.member(config));
  std::string all;
  for (const auto& [key, name, theirs, expected] : differences(config, expressible)) {
    const std::string which = all.empty() ? fmt::format(", which cannot be written for {}", program) : "";
    all += fmt::format("{} its '{}' is {}{} (only {})", all.empty() ? "" : ";", key, theirs, which, expected);
  }
  if (!all.empty())
    throw Error(fmt::format("{}:{}", model.tensors().path(), all),
                advice + "docs/existing_models.md says which models can be written for other programs");
}

TensorEntry floating(const ModelFile& model, const std::string& weight) {
  const TensorEntry& stored = model.tensors().get(weight);
  if (stored.dtype != DType::i8) return stored;
  return {.name = weight, .dtype = DType::f32, .shape = stored.shape, .make = [&stored, &model] {
            return restored(stored, model.tensors());
          }};
}

std::vector<float> floats_of(const TensorEntry& tensor) {
  const Bytes made = tensor.make ? tensor.make() : Bytes();
  const std::span<const std::byte> bytes = tensor.make ? made : tensor.bytes;
  std::vector<float> values;
  const auto read = [&]<class T>() {
    values.resize(bytes.size() / sizeof(T));
    for (size_t i = 0; i < values.size(); ++i) {
      T value;
      std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
      values[i] = float(value);
    }
  };
  is_half(tensor.dtype) ? for_half(tensor.dtype, read) : for_dtype(tensor.dtype, read);
  return values;
}

std::vector<std::string> tensors_not_finite(const SafetensorsFile& file) {
  std::vector<std::string> names;
  for (const TensorEntry& tensor : file.tensors())
    if (is_floating(tensor.dtype) && !is_finite(floats_of(tensor))) names.push_back(tensor.name);
  return names;
}

void require_finite_weights(const ModelFile& model) {
  for (const TensorEntry& tensor : model.tensors().tensors())
    if (is_floating(tensor.dtype)) require_finite(floats_of(tensor), model.tensors().path() + ": " + tensor.name);
}

std::vector<float> transposed(const std::vector<float>& from, int64_t rows, int64_t cols) {
  std::vector<float> to(from.size());
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < cols; ++c) to[size_t(c * rows + r)] = from[size_t(r * cols + c)];
  return to;
}

std::string sentencepiece_of(const Vocabulary& vocabulary, const std::string& side) {
  if (!is_container(vocabulary.bytes())) return vocabulary.bytes();
  ListedVocabulary listed = from_container(vocabulary.bytes(), side);
  if (listed.segmentation != SegmentationKind::sentencepiece)
    throw Error(fmt::format("the {} vocabulary has no SentencePiece model, which the other program needs", side),
                "models with plain tokens or subword-nmt pieces can only be written with --to ctranslate2");
  return listed.model;
}

void write_splitting(const OutputFolder& folder, const Vocabulary& vocabulary, const std::string& side) {
  if (!is_container(vocabulary.bytes())) return folder.write(side + ".spm", vocabulary.bytes());
  const ListedVocabulary listed = from_container(vocabulary.bytes(), side);
  if (listed.segmentation == SegmentationKind::tokens) return;
  folder.write(side + (listed.segmentation == SegmentationKind::bpe ? ".bpe" : ".spm"), listed.model);
}

std::vector<std::string> pieces_of(const Vocabulary& vocabulary) {
  std::vector<std::string> pieces;
  for (int32_t id = 0; id < vocabulary.size(); ++id) pieces.push_back(vocabulary.piece(id));
  return pieces;
}

}  // namespace dragoman
