#include "interop/open_model.h"

#include "base/log.h"
#include "interop/huggingface.h"
#include "interop/marian.h"

namespace dragoman {

std::optional<ConvertedModel> read_foreign_model(const std::string& path, const ForeignOptions& options) {
  if (auto model = read_marian(path, options.vocabs)) return model;
  return read_huggingface(path);
}

ModelFile open_model(const std::string& path, const ForeignOptions& options) {
  std::optional<ConvertedModel> foreign = read_foreign_model(path, options);
  if (!foreign) return ModelFile(path);
  log_info("{} is a model of another program: converted in memory (dragoman convert keeps the result)", path);
  return ModelFile::in_memory(path, foreign->config, foreign->vocabularies, std::move(foreign->weights));
}

}  // namespace dragoman
