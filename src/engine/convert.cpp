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

OpenOptions open_options(const ConvertOptions& o) {
  return {.vocabs = o.vocabs, .languages = {o.source_lang, o.target_lang}};
}

// A dragoman model remains as it is, but for its languages.
void store_languages(const ConvertOptions& o) {
  const ModelFile model = open_model(o.input, open_options(o));  // or throws an Error that names the kind of file
  if (o.source_lang.empty() && o.target_lang.empty())
    throw Error(o.input + " is already a dragoman model",
                "translate, train and the other commands read it as it is; --source-lang and --target-lang store the "
                "languages of a multilingual one in a copy");
  require_finite_weights(model);
  std::vector<TensorEntry> weights;
  for (const TensorEntry& t : model.tensors().tensors())
    if (!t.name.starts_with("vocabulary.")) weights.push_back(t);
  save_model(o.output, model.config(), model.vocabularies(), std::move(weights), model.trained());
  log_info("Saved {}: {} with its languages", o.output, o.input);
}

void write_for_others(const ConvertOptions& o) {
  const ModelFile model = open_model(o.input, open_options(o));
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
  require_enumerator("format", o.format, ModelFormat::onnx);
  refuse_overwriting(files_of(o));
  const bool for_others = o.format != ModelFormat::dragoman;
  require(!for_others || o.output != "-", "--output is a folder, so it cannot be '-'");
  for_others ? require_new_folder(o.output) : require_model_output(o.output);
  const Engine::Scope scope(engine);
  if (for_others) return write_for_others(o);
  std::optional<ConvertedModel> model = read_foreign_model(o.input, open_options(o));
  if (!model) return store_languages(o);
  save_model(o.output, model->config, model->vocabularies, finite_when_made(std::move(model->weights), o.input));
  log_info("Saved {}, converted from {}", o.output, o.input);
}

}  // namespace dragoman
