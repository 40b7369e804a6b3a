#include "dragoman/quantize.h"

#include <filesystem>

#include "backend/registry.h"
#include "base/enum_names.h"
#include "base/error.h"
#include "base/grouped.h"
#include "base/log.h"
#include "data/pairs.h"
#include "decode/translator.h"
#include "dragoman/engine.h"
#include "engine/model_files.h"
#include "engine/output_file.h"
#include "interop/model_parts.h"
#include "interop/open_model.h"
#include "io/int8_weights.h"
#include "io/load_model.h"
#include "metrics/bleu.h"
#include "metrics/chrf.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;

void check(const QuantizeOptions& o) {
  validate(SearchOptions{.beam_size = o.beam_size});
  require(o.gate >= 0 && o.gate <= 100, "--gate: {} is out of range, expected from 0 to 100", o.gate);
  require_enumerator("tokenize", o.tokenize, Tokenizer::spm);
  require_tokenizer_without_model("tokenize", o.tokenize);
  refuse_overwriting(files_of(o));
  require_model_output(o.output);
}

LinePairs read_valid_set(const std::vector<std::string>& files) {
  if (files.empty()) return {};
  require(files.size() == 2, "--valid-sets takes two files, source and target, found {}", files.size());
  LinePairs lines = read_line_pairs({files[0], files[1]});
  require(!lines.source.empty(), "--valid-sets: {} has no lines", files[0]);
  return lines;
}

std::vector<NamedTensor> rounded(const ModelFile& file, const Backend& device, Arena& arena, Arena& host) {
  const auto model = make_model(file.config(), device, arena, DType::f32, false);
  file.load_weights(model->parameters());
  return in_int8(weights_of(model->parameters()), host, file.tensors().path());
}

TranslationQuality quality(const ModelFile& file, DType type, const LinePairs& lines, const Backend& device,
                           const QuantizeOptions& o) {
  log_info("Translating {} lines in {}", grouped(lines.source.size()), type == DType::i8 ? "int8" : "float32");
  Arena arena = arena_of(device);
  const LoadedModel loaded = load_model(file, device, arena, type);
  Context cx{.backend = device, .arena = arena, .packed = &loaded.packed};
  const auto translations = Translator(cx, *loaded.model, loaded.vocabularies, TranslateOptions{},
                                       SearchOptions{.beam_size = o.beam_size}, searches_on(device))
                                .translate(lines.source);
  const auto references = as_translations_are(loaded.vocabularies.target, lines.target);
  return {bleu(translations, {references}, o.tokenize).score, chrf(translations, {references})};
}

void pass_gate(const TranslationQuality& float32, const TranslationQuality& int8, const QuantizeOptions& o) {
  const double fall = float32.bleu - int8.bleu;
  if (fall <= o.gate) return;
  throw Error(
      fmt::format("BLEU falls by {:.3f}, from {:.2f} to {:.2f}, which is more than --gate {}; {} was not written", fall,
                  float32.bleu, int8.bleu, o.gate, o.output),
      "translate in float32, or raise --gate");
}

}  // namespace

CommandFiles files_of(const QuantizeOptions& o) {
  return {.read = {{"--model", {o.model}},
                   {"a file of --model", parts_of_models({o.model})},
                   {"--valid-sets", o.valid_sets},
                   {"--vocabs", o.vocabs}},
          .written = {{"--output", {o.output}}}};
}

// Quality is measured before the file is written: load_model quantizes the float32 file to the same weights.
QuantizeResult quantize(Engine& engine, const QuantizeOptions& o) {
  const Engine::Scope scope(engine);
  check(o);
  const ModelFile file = open_model(o.model, {.vocabs = o.vocabs, .languages = {o.source_lang, o.target_lang}});
  if (file.stored_type() == DType::i8)
    throw Error(fmt::format("{} is already in 8 bits", o.model), "give the float32 model that it was made from");
  const LinePairs lines = read_valid_set(o.valid_sets);
  const Backend& device = engine.backend();
  Arena arena = arena_of(device), host;
  const auto weights = rounded(file, device, arena, host);
  QuantizeResult result;
  if (!lines.source.empty()) {
    result.float32 = quality(file, DType::f32, lines, device, o);
    result.int8 = quality(file, DType::i8, lines, device, o);
    pass_gate(*result.float32, *result.int8, o);
  }
  save_model(o.output, file.config(), file.vocabularies(), weights, file.trained());
  result.bytes_before = stored_bytes(file.tensors()), result.bytes_after = int64_t(fs::file_size(o.output));
  return result;
}

}  // namespace dragoman
