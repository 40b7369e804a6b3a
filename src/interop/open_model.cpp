#include "interop/open_model.h"

#include <fmt/format.h>

#include <filesystem>
#include <tuple>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "interop/ctranslate2.h"
#include "interop/fairseq.h"
#include "interop/huggingface.h"
#include "interop/joeynmt.h"
#include "interop/marian.h"
#include "interop/opennmt.h"
#include "interop/sockeye.h"
#include "io/weight_check.h"

namespace dragoman {
namespace {

// Says why if a path may exist but cannot be read, such as one in a folder that others may not enter.
void require_readable(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (error && status.type() != std::filesystem::file_type::not_found) FileDescriptor::to_read(path);
}

std::optional<ConvertedModel> read_as_it_is(const std::string& path, const OpenOptions& options) {
  if (auto model = read_marian(path, options.vocabs)) return model;
  if (auto model = read_ctranslate2(path, options.vocabs)) return model;
  if (auto model = read_fairseq(path, options.vocabs)) return model;
  if (auto model = read_opennmt(path, options.vocabs)) return model;
  if (auto model = read_joeynmt(path, options.vocabs)) return model;
  if (auto model = read_sockeye(path, options.vocabs)) return model;
  auto model = read_huggingface(path);
  if (model && !options.vocabs.empty()) log_warning("--vocabs is ignored: {} contains its vocabularies", path);
  return model;
}

bool may_be_part(const std::string& path) {
  const std::filesystem::path file = path;
  const std::string name = file.filename();
  const bool part =
      name == "model.safetensors" || name == "pytorch_model.bin" || name == "model.bin" || name == "config.json";
  return part && std::filesystem::exists(file.parent_path() / "config.json");
}

// Otherwise convert would save a model that nothing can load.
void require_complete(const ConvertedModel& model, const std::string& path) {
  const auto& [config, vocabularies, weights] = model;
  for (const auto& [side, found, expected] :
       {std::tuple("source", vocabularies.source.size(), config.source_vocabulary),
        std::tuple("target", vocabularies.target.size(), config.target_vocabulary)})
    require(found == expected, "{}: its {} vocabulary has {} pieces, the model's configuration says {}", path, side,
            found, expected);
  require_weights(weights, config, path);
}

ModelFile read_own(const std::string& path) {
  refuse_other_levels(path);
  try {
    return ModelFile(path);
  } catch (const Error& error) {
    throw_for_part(error, path);
  }
}

ModelFile open_own(const std::string& path, const OpenOptions& options) {
  if (!options.vocabs.empty()) log_warning("--vocabs is ignored: {} contains its vocabularies", path);
  ModelFile file = read_own(path);
  ModelConfig config = file.config();
  set_languages(config, file.vocabularies(), options.languages, path);
  file.set_generation(config.generation);
  return file;
}

std::map<std::string, std::vector<int64_t>> shapes_of(std::span<const TensorEntry> tensors) {
  std::map<std::string, std::vector<int64_t>> shapes;
  for (const TensorEntry& t : tensors) shapes[t.name] = t.shape;
  return shapes;
}

}  // namespace

void refuse_other_levels(const std::string& path) {
  if (std::filesystem::is_directory(path))
    throw Error(path + " is a folder without a model that dragoman reads",
                "looked for config.json with a model_type (Hugging Face), model.bin (CTranslate2, Argos Translate), "
                "decoder.yml (Marian), config.yaml (JoeyNMT) and vocab.src.0.json (Sockeye) in it; give the file of a "
                "model of dragoman, Marian, fairseq or OpenNMT-py");
  if (path.ends_with(".onnx") && std::filesystem::exists(path))
    throw Error(path + " is an ONNX model, which dragoman writes but does not read",
                "give the model that it was made from");
}

void throw_for_part(const Error& error, const std::string& path) {
  if (!may_be_part(path)) throw;
  const std::string folder = std::filesystem::path(path).parent_path();
  throw Error(error.what(), fmt::format("{}{}if it is part of another program's model, give the folder: {}",
                                        error.hint(), error.hint().empty() ? "" : "; ", folder.empty() ? "." : folder));
}

std::optional<ConvertedModel> read_foreign_model(const std::string& path, const OpenOptions& options) {
  require(options.vocabs.empty() || options.vocabs.size() == 2,
          "--vocabs takes two files, source and target, found {}: {}", options.vocabs.size(),
          fmt::join(options.vocabs, " "));
  require_readable(path);
  auto model = read_as_it_is(path, options);
  if (!model) return std::nullopt;
  require_complete(*model, path);
  set_languages(model->config, model->vocabularies, options.languages, path);
  return model;
}

ModelFile open_model(const std::string& path, const OpenOptions& options) {
  if (auto foreign = read_foreign_model(path, options)) {
    log_info("{} is another program's model; it was converted in memory (dragoman convert saves the result)", path);
    return ModelFile::in_memory(path, foreign->config, foreign->vocabularies, std::move(foreign->weights));
  }
  return open_own(path, options);
}

void warn_if_rounded(const ModelFile& file, const std::string& path) {
  if (file.stored_type() == DType::i8)
    log_warning("{} is in 8 bits: its rounding errors remain in the float32 model that is made from it", path);
}

ModelOutline outline_of(const ModelFile& file) {
  return {file.tensors().path(), file.vocabularies(), shapes_of(file.tensors().tensors())};
}

ModelOutline outline_of(const std::string& path, const OpenOptions& options) {
  if (const auto foreign = read_foreign_model(path, options))
    return {path, foreign->vocabularies, shapes_of(foreign->weights)};
  return outline_of(open_own(path, options));
}

int64_t stored_bytes(const SafetensorsFile& file) {
  if (std::filesystem::is_regular_file(file.path())) return int64_t(std::filesystem::file_size(file.path()));
  int64_t bytes = 0;
  for (const TensorEntry& tensor : file.tensors()) bytes += int64_t(tensor.bytes.size());
  return bytes;
}

}  // namespace dragoman
