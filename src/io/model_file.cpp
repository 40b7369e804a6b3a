#include "io/model_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/number.h"
#include "base/threads.h"
#include "io/config_json.h"
#include "io/finite.h"
#include "io/int8_weights.h"
#include "io/weight_check.h"
#include "nn/parameters.h"

namespace dragoman {
namespace {

constexpr const char *model_format = "dragoman", *format_version = "1";

std::string entry(const SafetensorsFile& file, const std::string& key) {
  const auto found = file.metadata().find(key);
  if (found == file.metadata().end())
    throw Error(
        fmt::format("{} is a safetensors file but not a dragoman model: it has no metadata '{}'", file.path(), key),
        "models are written by dragoman train and dragoman average");
  return found->second;
}

void require_model(const SafetensorsFile& file) {
  const std::string format = entry(file, "format");
  if (format == "dragoman-state")
    throw Error(file.path() + " is a training state, expected a model",
                "the model is the file next to it, without '.state' in its name");
  require(format == model_format, "{} is a safetensors file of format '{}', expected a dragoman model", file.path(),
          format);
}

// Of weights; those who read vocabularies and scales say more about theirs.
void require_types(const SafetensorsFile& file) {
  const auto is_weight = [](DType type) {
    return type == DType::f64 || type == DType::f32 || is_half(type) || type == DType::i8;
  };
  for (const TensorEntry& t : file.tensors())
    require(is_weight(t.dtype) || t.name.starts_with("vocabulary.") || t.name.ends_with(scale_name("")),
            "{}: tensor {} is of type {}, expected a weight of F64, F32, BF16, F16 or I8", file.path(), t.name,
            t.dtype);
}

ModelConfig read_config(const SafetensorsFile& file) {
  require_model(file);
  const std::string version = entry(file, "version");
  if (version != format_version)
    throw Error(fmt::format("{} is of format version {}, this dragoman reads {}", file.path(), version, format_version),
                "use the dragoman that wrote it, or a newer one");
  const ModelConfig config = config_from_json(entry(file, "config"), file.path());
  require_sizes(file.tensors(), config, file.path());
  require_types(file);
  return config;
}

// An older file has no such entry.
int read_length(const SafetensorsFile& file, const std::string& key) {
  const auto found = file.metadata().find(key);
  if (found == file.metadata().end()) return 0;
  const std::string& text = found->second;
  const auto length = parse_number<int>(text);
  require(length && *length >= 0, "{}: '{}' is '{}' in its metadata, expected a number of pieces", file.path(), key,
          text);
  return *length;
}

// `known`: the vocabulary that was read before, which may be the same.
Vocabulary read_vocabulary(const SafetensorsFile& file, const std::string& name, int expected,
                           const Vocabulary* known = nullptr) {
  const TensorEntry& stored = file.get(name);
  require(stored.dtype == DType::u8, "{}: tensor {} is of type {}, expected U8", file.path(), name, stored.dtype);
  const std::string_view bytes(reinterpret_cast<const char*>(stored.bytes.data()), stored.bytes.size());
  Vocabulary vocabulary =
      known && known->bytes() == bytes ? *known : Vocabulary::from_bytes(std::string(bytes), file.path() + ": " + name);
  require(vocabulary.size() == expected, "{}: {} has {} pieces, the model's configuration says {}", file.path(), name,
          vocabulary.size(), expected);
  return vocabulary;
}

Vocabularies read_vocabularies(const SafetensorsFile& file, const ModelConfig& config) {
  const Vocabulary source = read_vocabulary(file, "vocabulary.source", config.source_vocabulary);
  return {source, read_vocabulary(file, "vocabulary.target", config.target_vocabulary, &source)};
}

TensorEntry entry_of(const std::string& name, const Vocabulary& vocabulary) {
  const std::string& bytes = vocabulary.bytes();
  return {name, DType::u8, {int64_t(bytes.size())}, std::as_bytes(std::span(bytes))};
}

std::vector<TensorEntry> with_vocabularies(std::vector<TensorEntry> weights, const Vocabularies& vocabularies) {
  weights.push_back(entry_of("vocabulary.source", vocabularies.source));
  weights.push_back(entry_of("vocabulary.target", vocabularies.target));
  return weights;
}

Metadata metadata_of(const ModelConfig& config, const TrainedLengths& trained) {
  return {{"format", model_format},
          {"version", format_version},
          {"config", to_json(config)},
          {"longest_source", fmt::to_string(trained.source)},
          {"longest_target", fmt::to_string(trained.target)}};
}

// Reads straight from the file, where numbers may be unaligned: a copy of the largest matrix would raise the peak of
// memory.
template <class S, class T>
void copy(const std::byte* from, std::span<T> to) {
  for (T& number : to) {
    S stored;
    std::memcpy(&stored, from, sizeof(S));
    number = T(stored);
    from += sizeof(S);
  }
}

void copy(const Tensor& value, const TensorEntry& stored, const std::string& where) {
  constexpr int64_t worth_a_thread = 1 << 18, in_the_cache = 1 << 12;  // checking numbers in the cache costs nothing
  parallel_blocks(value.elements(), worth_a_thread, [&](Range part, int) {
    for_stored(stored.dtype, [&]<class S>() {
      for_dtype(value.dtype(), [&]<class T>() {
        for (int64_t i = part.begin; i < part.end; i += in_the_cache) {
          const std::span<T> to(value.as<T>() + i, size_t(std::min(in_the_cache, part.end - i)));
          copy<S>(stored.bytes.data() + i * int64_t{sizeof(S)}, to);
          require_finite(std::span<const T>(to), where);
        }
      });
    });
  });
}

// Rows from `first` on become the mean of those before.
void fill_with_mean(const Tensor& x, int64_t first) {
  const int64_t rows = x.shape()[0], columns = x.elements() / rows;
  for_dtype(x.dtype(), [&]<class T>() {
    T* const values = x.as<T>();
    for (int64_t c = 0; c < columns; ++c) {
      double sum = 0;
      for (int64_t r = 0; r < first; ++r) sum += double(values[r * columns + c]);
      for (int64_t r = first; r < rows; ++r) values[r * columns + c] = T(sum / double(first));
    }
  });
}

}  // namespace

TensorEntry entry_of(const std::string& name, const Tensor& value) {
  invariant(value.contiguous(), "weights are stored contiguous");
  std::vector<int64_t> shape;
  for (int i = 0; i < value.shape().rank(); ++i) shape.push_back(value.shape()[i]);
  return {name, value.dtype(), shape, {static_cast<const std::byte*>(value.data()), size_t(value.bytes())}};
}

std::vector<NamedTensor> weights_of(const Parameters& parameters) {
  std::vector<NamedTensor> weights;
  size_t buffer = parameters.buffers().size();
  Tensor merged;
  for (const auto& p : parameters.named()) {
    if (p.is_update()) continue;
    if (p.buffer != std::exchange(buffer, p.buffer)) merged = parameters.merged(p.buffer);
    weights.push_back({p.name, p.slice_of(merged).on_host()});
  }
  return weights;
}

void save_model(const std::string& path, const ModelConfig& config, const Vocabularies& vocabularies,
                const std::vector<NamedTensor>& weights, const TrainedLengths& trained) {
  std::vector<TensorEntry> tensors;
  for (const NamedTensor& w : weights) tensors.push_back(entry_of(w.name, w.value));
  save_model(path, config, vocabularies, std::move(tensors), trained);
}

void save_model(const std::string& path, const ModelConfig& config, const Vocabularies& vocabularies,
                std::vector<TensorEntry> weights, const TrainedLengths& trained) {
  write_safetensors(path, with_vocabularies(std::move(weights), vocabularies), metadata_of(config, trained));
}

ModelFile ModelFile::in_memory(const std::string& name, const ModelConfig& config, const Vocabularies& vocabularies,
                               std::vector<TensorEntry> weights, const TrainedLengths& trained) {
  return ModelFile(SafetensorsFile::in_memory(name, with_vocabularies(std::move(weights), vocabularies),
                                              metadata_of(config, trained)));
}

bool is_model_file(const std::string& path) {
  const SafetensorsFile file(path);
  const auto found = file.metadata().find("format");
  return found != file.metadata().end() && found->second == model_format;
}

ModelFile::ModelFile(SafetensorsFile file)
    : file_(std::move(file)),
      config_(read_config(file_)),
      vocabularies_(read_vocabularies(file_, config_)),
      trained_{read_length(file_, "longest_source"), read_length(file_, "longest_target")} {}

void ModelFile::load_weights(const Parameters& parameters) const {
  require_weights_of(parameters);
  for (size_t i = 0; i < parameters.buffers().size(); ++i) load_buffer(parameters, i, parameters.buffers()[i].value());
}

void ModelFile::require_weights_of(const Parameters& parameters) const {
  require_weights(file_.tensors(), parameters, file_.path());
}

void ModelFile::load_buffer(const Parameters& parameters, size_t buffer, const Tensor& values) const {
  const Tensor host = values.room_on_host();
  for (const auto& p : parameters.slices_of(buffer)) {
    const TensorEntry& stored = file_.get(p.name);
    const Tensor all = p.slice_of(host);
    const bool fewer = !stored.shape.empty() && stored.shape[0] < all.shape()[0];
    const Tensor rows = fewer ? all.row_range(0, stored.shape[0]) : all;
    stored.dtype == DType::i8 ? restore_rows(rows, stored, file_) : copy(rows, stored, file_.path() + ": " + p.name);
    if (fewer) fill_with_mean(all, stored.shape[0]);
    MappedFile::let_go(stored.bytes);
  }
  values.assign(host);
}

DType ModelFile::stored_type() const {
  const bool in_int8 = std::ranges::find(file_.tensors(), DType::i8, &TensorEntry::dtype) != file_.tensors().end();
  return in_int8 ? DType::i8 : DType::f32;
}

}  // namespace dragoman
