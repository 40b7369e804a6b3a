#include "dragoman/convert.h"

#include "base/enum_names.h"
#include "base/error.h"
#include "base/log.h"
#include "dragoman/engine.h"
#include "engine/model_files.h"
#include "engine/output_file.h"
#include "interop/export.h"
#include "interop/model_parts.h"
#include "interop/open_model.h"
#include "interop/write_ctranslate2.h"
#include "interop/write_huggingface.h"
#include "interop/write_marian.h"
#include "interop/write_onnx.h"

namespace dragoman {

namespace {

void write_for_others(const ConvertOptions& o) {
  const ModelFile model = open_model(o.input, {.vocabs = o.vocabs, .languages = {o.source_lang, o.target_lang}});
  require_finite_weights(model);
  if (o.format == ModelFormat::ctranslate2) write_ctranslate2(model, o.output);
  if (o.format == ModelFormat::huggingface) write_huggingface(model, o.output);
  if (o.format == ModelFormat::marian) write_marian(model, o.output);
  if (o.format == ModelFormat::onnx) write_onnx(model, o.output);
  log_info("Saved {}, converted from {}", o.output, o.input);
}

}  // namespace

CommandFiles files_of(const ConvertOptions& o) {
  return {.read = {{"--input", {o.input}}, {"a file of --input", parts_of_models({o.input})}, {"--vocabs", o.vocabs}},
          .written = {{"--output", {o.output}}}};
}

void convert_model(Engine& engine, const ConvertOptions& o) {
  require(o.output != "-", "--output is a model file, so it cannot be '-'");
  require_enumerator("format", o.format, ModelFormat::onnx);
  refuse_overwriting(files_of(o));
  o.format == ModelFormat::dragoman ? require_replaceable("output", o.output) : require_new_folder(o.output);
  const Engine::Scope scope(engine);
  if (o.format != ModelFormat::dragoman) return write_for_others(o);
  std::optional<ConvertedModel> model =
      read_foreign_model(o.input, {.vocabs = o.vocabs, .languages = {o.source_lang, o.target_lang}});
  if (!model) {
    ModelFile ours(o.input);  // or throws an Error that names the kind of file
    throw Error(o.input + " is already a dragoman model", "translate, train and the other commands read it as it is");
  }
  save_model(o.output, model->config, model->vocabularies, std::move(model->weights));
  log_info("Saved {}, converted from {}", o.output, o.input);
}

}  // namespace dragoman
