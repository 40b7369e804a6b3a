#include "dragoman/average.h"

#include <span>
#include <tuple>

#include "backend/registry.h"
#include "base/error.h"
#include "base/log.h"
#include "base/threads.h"
#include "dragoman/engine.h"
#include "engine/model_files.h"
#include "engine/output_file.h"
#include "interop/model_parts.h"
#include "interop/open_model.h"
#include "io/config_json.h"
#include "model/config_fields.h"
#include "model/model.h"

namespace dragoman {
namespace {

// The configuration with the fields of another one that affect training alone, such as dropout.
ModelConfig trained_as(ModelConfig other, ModelConfig config) {
  for (const ConfigField& field : model_config_fields())
    if (field.training_only) assign(field.member(config), field.member(other));
  return config;
}

// The meaning of weights depends on configuration and vocabularies, so equal shapes are not enough.
void require_same_kind(const std::string& first_path, const ModelFile& first, const std::string& path,
                       const ModelFile& file) {
  static constexpr auto hint =
      "models can be averaged if they come from one run, or from runs with the same options and vocabularies";
  std::string list;  // "--dim-emb is 128 and 256, --transformer-heads is 4 and 8"
  for (const auto& [member, name, ours, theirs] :
       differences(first.config(), trained_as(first.config(), file.config())))
    list += fmt::format("{}{} is {} and {}", list.empty() ? "" : ", ", name, ours, theirs);
  if (!list.empty())
    throw Error(fmt::format("{} and {} have different architectures: {}", first_path, path, list), hint);
  for (const auto& [side, ours, theirs] :
       {std::tuple("source", &first.vocabularies().source, &file.vocabularies().source),
        std::tuple("target", &first.vocabularies().target, &file.vocabularies().target)})
    if (ours->bytes() != theirs->bytes())
      throw Error(fmt::format("{} and {} have different {} vocabularies", first_path, path, side), hint);
}

// Sums in double precision, in the order of the parameters.
using Sums = std::vector<std::vector<double>>;
constexpr int64_t worth_a_thread = 1 << 14;  // numbers

void add(Sums& sums, const Parameters& parameters) {
  sums.resize(parameters.named().size());
  for (size_t p = 0; p < sums.size(); ++p) {
    const Tensor& value = parameters.named()[p].value;
    sums[p].resize(size_t(value.elements()));
    parallel_blocks(value.elements(), worth_a_thread, [&](Range part, int) {
      for (int64_t i = part.begin; i < part.end; ++i) sums[p][size_t(i)] += value.as<float>()[i];
    });
  }
}

void set_to_means(const Parameters& parameters, const Sums& sums, size_t models) {
  for (size_t p = 0; p < sums.size(); ++p)
    parallel_blocks(std::ssize(sums[p]), worth_a_thread, [&](Range part, int) {
      for (int64_t i = part.begin; i < part.end; ++i)
        parameters.named()[p].value.as<float>()[i] = float(sums[p][size_t(i)] / double(models));
    });
}

}  // namespace

CommandFiles files_of(const AverageOptions& o) {
  return {.read = {{"--models", o.models}, {"a file of --models", parts_of_models(o.models)}, {"--vocabs", o.vocabs}},
          .written = {{"--output", {o.output}}}};
}

// Memory: one model and the sums, however many files there are.
void average_models(Engine& engine, const AverageOptions& options) {
  require(!options.models.empty(), "no models to average");
  refuse_overwriting(files_of(options));
  require_model_output(options.output);
  const Engine::Scope scope(engine);
  const std::string& first_path = options.models.front();
  const ModelFile first = open_model(first_path, {.vocabs = options.vocabs});
  Arena arena;
  const auto model = make_model(first.config(), engine.backend(), arena, DType::f32, false);
  Sums sums;
  TrainedLengths trained;
  const auto take = [&](const std::string& path, const ModelFile& file) {
    require_same_kind(first_path, first, path, file);
    warn_if_rounded(file, path);
    trained = {std::max(trained.source, file.trained().source), std::max(trained.target, file.trained().target)};
    file.load_weights(model->parameters());
    add(sums, model->parameters());
  };
  take(first_path, first);
  for (const std::string& path : std::span(options.models).subspan(1))
    take(path, open_model(path, {.vocabs = options.vocabs}));
  set_to_means(model->parameters(), sums, options.models.size());
  save_model(options.output, first.config(), first.vocabularies(), weights_of(model->parameters()), trained);
  log_info("Saved {}, the mean of {} {}", options.output, options.models.size(),
           options.models.size() == 1 ? "model" : "models");
}

}  // namespace dragoman
