#include "interop/open_model.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "interop/ctranslate2.h"
#include "interop/fairseq.h"
#include "interop/huggingface.h"
#include "interop/marian.h"
#include "interop/opennmt.h"

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
  return read_huggingface(path);
}

}  // namespace

std::optional<ConvertedModel> read_foreign_model(const std::string& path, const OpenOptions& options) {
  require(options.vocabs.empty() || options.vocabs.size() == 2,
          "--vocabs takes two files, source and target, found {}: {}", options.vocabs.size(),
          fmt::join(options.vocabs, " "));
  require_readable(path);
  auto model = read_as_it_is(path, options);
  if (model) set_languages(model->config, model->vocabularies, options.languages, path);
  return model;
}

ModelFile open_model(const std::string& path, const OpenOptions& options) {
  if (auto foreign = read_foreign_model(path, options)) {
    log_info("{} is another program's model; it was converted in memory (dragoman convert saves the result)", path);
    return ModelFile::in_memory(path, foreign->config, foreign->vocabularies, std::move(foreign->weights));
  }
  if (!options.vocabs.empty()) log_warning("--vocabs is ignored: {} contains its vocabularies", path);
  ModelFile file(path);
  ModelConfig config = file.config();
  set_languages(config, file.vocabularies(), options.languages, path);
  file.set_generation(config.generation);
  return file;
}

int64_t stored_bytes(const SafetensorsFile& file) {
  if (std::filesystem::is_regular_file(file.path())) return int64_t(std::filesystem::file_size(file.path()));
  int64_t bytes = 0;
  for (const TensorEntry& tensor : file.tensors()) bytes += int64_t(tensor.bytes.size());
  return bytes;
}

}  // namespace dragoman
