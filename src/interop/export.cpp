#include "interop/export.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <random>

#include "base/error.h"
#include "base/utf8.h"
#include "interop/raw_bytes.h"
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

Bytes restored(const TensorEntry& weight, const SafetensorsFile& file) {
  const std::vector<int8_t> numbers = values_of<int8_t>(weight);
  const std::vector<float> scales = values_of<float>(file, scale_name(weight.name));
  const int64_t columns = weight.shape[1];
  std::vector<float> values(numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i) values[i] = scales[i / size_t(columns)] * float(numbers[i]);
  return raw_bytes(values);
}

// Printable: bytes other than ASCII's characters as in C. For pieces that are not UTF-8.
std::string with_escaped_bytes(std::string_view piece) {
  std::string text;
  for (const char byte : piece) {
    const bool printable = byte >= ' ' && byte < '\x7f';
    text += printable ? std::string(1, byte) : fmt::format("\\x{:02x}", uint8_t(byte));
  }
  return beginning_of(text);
}

// In blocks, as a copy of the largest matrix would raise the peak of memory.
void require_finite_numbers(std::span<const std::byte> bytes, DType type, const std::string& where) {
  constexpr size_t block = 1 << 18;
  if (!is_floating(type)) return;
  for (; !bytes.empty(); bytes = bytes.subspan(std::min(block, bytes.size())))
    require_finite(floats_of({.dtype = type, .bytes = bytes.first(std::min(block, bytes.size()))}), where);
}

// A folder beside the one that it is renamed to; what was not renamed is removed.
class TemporarySibling {
 public:
  explicit TemporarySibling(const std::string& final_path)
      : final_(final_path), path_(fmt::format("{}.tmp-{}-{:08x}", final_, getpid(), std::random_device()())) {
    std::error_code error;
    fs::create_directory(path_, error);
    require(!error, "{}: cannot be created: {}", final_, error.message());
  }
  ~TemporarySibling() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporarySibling(const TemporarySibling&) = delete;

  const std::string& path() const { return path_; }
  void rename() const {
    std::error_code error;
    fs::rename(path_, final_, error);
    require(!error, "{}: cannot be created: {}", final_, error.message());
  }
  std::string with_final_path(std::string message) const {
    for (size_t at; (at = message.find(path_)) != message.npos;) message.replace(at, path_.size(), final_);
    return message;
  }

 private:
  std::string final_, path_;
};

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

void OutputFolder::write(const std::string& name, std::string_view text) const {
  write_atomically(file(name), [&](FileWriter& out) { out.write(text); });
}

void require_new_folder(const std::string& path) {
  const std::string folder = without_slash(path), parent = fs::path(folder).parent_path();
  if (fs::exists(fs::symlink_status(folder)))
    throw Error(fmt::format("{} already exists, expected the name of a new folder", path),
                "give another name, or move it away first");
  std::error_code unknown;
  if (!parent.empty() && !fs::exists(parent, unknown))
    throw Error(fmt::format("{}: there is no folder {}", path, parent), "mkdir -p " + parent);
}

void write_folder(const std::string& path, const std::function<void(const OutputFolder&)>& write) {
  require_new_folder(path);
  const TemporarySibling temporary(without_slash(path));
  try {
    write(OutputFolder(temporary.path()));
  } catch (const Error& error) {
    throw Error(temporary.with_final_path(error.what()), temporary.with_final_path(error.hint()));
  }
  temporary.rename();
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
    require_finite_numbers(tensor.bytes, tensor.dtype, model.tensors().path() + ": " + tensor.name);
}

std::vector<TensorEntry> finite_when_made(std::vector<TensorEntry> weights, const std::string& path) {
  for (TensorEntry& weight : weights) {
    if (!is_floating(weight.dtype)) continue;
    weight.make = [weight, where = path + ": " + weight.name] {
      Bytes made = weight.make ? weight.make() : Bytes(weight.bytes.begin(), weight.bytes.end());
      require_finite_numbers(made, weight.dtype, where);
      return made;
    };
  }
  return weights;
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

std::vector<std::string> pieces_of(const Vocabulary& vocabulary, const std::string& side) {
  std::vector<std::string> pieces;
  for (int32_t id = 0; id < vocabulary.size(); ++id) {
    pieces.push_back(vocabulary.piece(id));
    if (!is_valid_utf8(pieces.back()))
      throw Error(
          fmt::format("piece {} of the {} vocabulary is \"{}\", expected UTF-8, as the other program's list of "
                      "pieces is JSON",
                      id, side, with_escaped_bytes(pieces.back())),
          "write the piece in UTF-8 in the list of the model that is converted; dragoman's own format keeps it");
  }
  return pieces;
}

}  // namespace dragoman
