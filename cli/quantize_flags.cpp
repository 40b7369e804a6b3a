#include "base/error.h"
#include "cli/commands.h"
#include "cli/quantize_options.h"
#include "metrics/tokenize.h"
#include "options/flags.h"
#include "options/shared_flags.h"

namespace dragoman {
namespace {

using O = QuantizeCommandOptions;

std::vector<Flag<O>> file_flags() {
  static constexpr auto group = "Files";
  return {
      {.name = "model",
       .letter = 'm',
       .field = &O::model,
       .value = "FILE",
       .group = group,
       .help = "the model in float32",
       .required = true,
       .use = FileUse::read_model},
      {.name = "output",
       .letter = 'o',
       .field = &O::output,
       .value = "FILE",
       .group = group,
       .help = "model file to write",
       .required = true,
       .use = FileUse::written},
  };
}

std::vector<Flag<O>> quality_flags() {
  static constexpr auto group = "Quality";
  return {
      {.name = "valid-sets",
       .field = &O::valid_sets,
       .value = "SOURCE TARGET",
       .group = group,
       .help = "text to translate in float32 and in int8, to compare their BLEU and chrF"},
      {.name = "gate",
       .field = &O::gate,
       .value = "X",
       .group = group,
       .help = "write nothing if BLEU falls by more than X; 100: always write",
       .range = {0, 100}},
      beam_size_flag<O>(group, "hypotheses per sentence"),
      {.name = "tokenize",
       .field = &O::tokenize,
       .value = "NAME",
       .group = group,
       .help =
           "tokenizer for BLEU: 13a: WMT's default; zh: WMT's for Chinese; none: for text that is already tokenised",
       .choices = tokenizers_without_model},
  };
}

void check(O& o, const Given& given, Findings& findings) {
  check_vocabs(o, findings);
  check_pair("valid-sets", o.valid_sets, findings);
  findings.attempt([&] { require_tokenizer_without_model("tokenize", o.tokenize); });
  for (const char* option : {"gate", "beam-size", "tokenize"})
    if (o.valid_sets.empty() && given.changed(option))
      findings.add(Error(fmt::format("--{} needs --valid-sets: BLEU is measured on them", option),
                         "give a source and a target file"));
}

}  // namespace

Table<O> quantize_table() {
  return {
      .about = {.name = "quantize",
                .summary = "write a model with 8-bit weights",
                .usage = "-m MODEL -o OUT [--valid-sets SOURCE TARGET [--gate X]]",
                .text = "Writes the model with 8-bit matrices, about a quarter of the size. translate then computes in "
                        "int8 by default, with the same result as --precision int8 and the float32 file."},
      .flags = joined(file_flags(), open_flags<O>("Files"), quality_flags(), machine_flags<O>("Run")),
      .check = check};
}

}  // namespace dragoman
