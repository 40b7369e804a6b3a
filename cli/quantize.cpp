#include <filesystem>
#include <optional>

#include "backend/registry.h"
#include "base/error.h"
#include "base/grouped.h"
#include "base/log.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/quantize_options.h"
#include "data/pairs.h"
#include "decode/translator.h"
#include "io/int8_weights.h"
#include "metrics/bleu.h"
#include "metrics/chrf.h"
#include "train/destination.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;

struct Quality {
  double bleu = 0, chrf = 0;
};

struct Comparison {
  Quality float32, int8;
};

void check_files(const QuantizeCommandOptions& o) {
  require(o.output != "-", "--output is a model file, so it cannot be '-'");
  require_writable("output", o.output);
}

LinePairs read_valid_set(const std::vector<std::string>& files) {
  if (files.empty()) return {};
  LinePairs lines = read_line_pairs({files[0], files[1]});
  require(!lines.source.empty(), "--valid-sets: {} has no lines", files[0]);
  return lines;
}

std::vector<NamedTensor> rounded(const ModelFile& file, Arena& arena) {
  const auto model = make_model(file.config(), backend("cpu"), arena, DType::f32, false);
  file.load_weights(model->parameters());
  return in_int8(weights_of(model->parameters()), arena, file.tensors().path());
}

Quality quality(const ModelFile& file, DType type, const LinePairs& lines, const QuantizeCommandOptions& o) {
  log_info("Translating {} lines in {}", grouped(lines.source.size()), type == DType::i8 ? "int8" : "float32");
  const Backend& cpu = backend("cpu");
  Arena arena;
  const LoadedModel loaded = load_model(file, cpu, arena, type);
  Context cx{.backend = cpu, .arena = arena, .packed = &loaded.packed};
  SearchOptions search;
  search.beam_size = o.beam_size;
  const auto translations =
      Translator(cx, *loaded.model, loaded.vocabularies, TranslateOptions{}, search, searches_on(cpu))
          .translate(lines.source);
  return {bleu(translations, {lines.target}, o.tokenize).score, chrf(translations, {lines.target})};
}

void pass_gate(const Comparison& c, const QuantizeCommandOptions& o) {
  const double fall = c.float32.bleu - c.int8.bleu;
  if (fall <= o.gate) return;
  throw Error(fmt::format("BLEU falls by {:.3f}, from {:.2f} to {:.2f}, more than --gate {} allows; {} was not written",
                          fall, c.float32.bleu, c.int8.bleu, o.gate, o.output),
              "translate in float32, or raise --gate");
}

std::string table(const QuantizeCommandOptions& o, const std::optional<Comparison>& quality) {
  const auto before = int64_t(fs::file_size(o.model)), after = int64_t(fs::file_size(o.output));
  std::string page = fmt::format("{:<5}  {:>13}  {:>13}  {:>8}\n", "", "float32", "int8", "change");
  page += fmt::format("{:<5}  {:>13}  {:>13}  {:>+6.1f} %\n", "bytes", grouped(before), grouped(after),
                      100 * (double(after) / double(before) - 1));
  const auto row = [&](const char* name, double Quality::*figure) {
    const double a = quality->float32.*figure, b = quality->int8.*figure;
    page += fmt::format("{:<5}  {:>13.2f}  {:>13.2f}  {:>+8.2f}\n", name, a, b, b - a);
  };
  if (quality) row("BLEU", &Quality::bleu), row("chrF2", &Quality::chrf);
  return page;
}

}  // namespace

// Quality is measured before the file is written: load_model quantizes the float32 file to the same weights.
int quantize_command(Engine&, const QuantizeCommandOptions& o) {
  check_files(o);
  const ModelFile file(o.model);
  if (file.stored_type() == DType::i8)
    throw Error(fmt::format("{} is already in 8 bits", o.model), "give the float32 model that it was made from");
  const LinePairs lines = read_valid_set(o.valid_sets);
  Arena arena;
  const auto weights = rounded(file, arena);
  std::optional<Comparison> comparison;
  if (!lines.source.empty()) {
    comparison = {quality(file, DType::f32, lines, o), quality(file, DType::i8, lines, o)};
    pass_gate(*comparison, o);
  }
  save_model(o.output, file.config(), file.vocabularies(), weights, file.trained());
  print_page(table(o, comparison));
  return 0;
}

}  // namespace dragoman
