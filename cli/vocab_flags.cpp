#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/vocab_options.h"
#include "options/flags.h"
#include "options/shared_flags.h"
#include "options/table_files.h"
#include "vocab/training.h"

namespace dragoman {
namespace {

using O = VocabOptions;

std::vector<Flag<O>> file_flags() {
  static constexpr auto group = "Files";
  return {
      {.name = "action",
       .field = &O::action,
       .value = "ACTION",
       .group = group,
       .help = "what to do",
       .required = true,
       .positional = true},
      {.name = "model",
       .letter = 'm',
       .field = &O::model,
       .value = "FILE",
       .group = group,
       .help = "SentencePiece model, which train writes; or another vocabulary, such as a list of tokens (.yml, .json, "
               ".txt)",
       .required = true},
      {.name = "input",
       .letter = 'i',
       .field = &O::inputs,
       .value = "FILE...",
       .group = group,
       .help = "train: text to learn from; encode: text (default: stdin); decode: pieces (default: stdin)"},
      {.name = "output",
       .letter = 'o',
       .field = &O::output,
       .value = "FILE",
       .group = group,
       .help = "output file; - is stdout",
       .use = FileUse::written},
  };
}

std::vector<Flag<O>> training_flags() {
  static constexpr auto group = "Training";
  return {
      {.name = "size",
       .field = &O::size,
       .value = "N",
       .group = group,
       .help =
           "number of pieces, including the 256 byte pieces and the special ones; for a list of tokens, the maximum",
       .range = {least_pieces, most_pieces}},
      {.name = "type", .field = &O::type, .value = "TYPE", .group = group, .help = "algorithm that learns the pieces"},
      {.name = "normalization",
       .field = &O::normalization,
       .value = "RULE",
       .group = group,
       .help = "normalisation of the text: nmt_nfkc, nmt_nfkc_cf (lower case), nfkc, nfkc_cf or identity"},
      {.name = "character-coverage",
       .field = &O::character_coverage,
       .value = "P",
       .group = group,
       .help = "share of the characters of the text that become pieces; the rest is encoded as bytes",
       .range = {least_character_coverage, 1}},
      vocabulary_lines_flag<O>(group),
      sentencepiece_options_flag<O>(group),
      {.name = "protected-symbols",
       .alias = "user-symbols",
       .field = &O::protected_symbols,
       .value = "PIECE...",
       .group = group,
       .help = "pieces that are never split, such as language tags: <2de> <2fr>"},
      {.name = "no-byte-fallback",
       .field = &O::no_byte_fallback,
       .group = group,
       .help = "leave out the byte pieces; characters without a piece become <unk>"},
  };
}

std::vector<Flag<O>> encoding_flags() {
  static constexpr auto group = "Encoding and decoding";
  return {
      {.name = "ids", .field = &O::ids, .group = group, .help = "print or read the pieces' ids instead of their text"},
      {.name = "alpha",
       .field = &O::alpha,
       .value = "A",
       .group = group,
       .help = "encode: sample segmentations (unigram: 0.1 is usual; bpe: dropout of merges); 0: the best one",
       .range = {0, 10}},
      {.name = "seed", .field = &O::seed, .value = "N", .group = group, .help = "random seed of --alpha and of train"},
  };
}

void check_uses(const O& o, const Given& given, Findings& findings) {
  using enum VocabAction;
  static const std::pair<std::vector<VocabAction>, Strings> uses[] = {
      {{train},
       {"size", "type", "normalization", "character-coverage", "sentencepiece-max-lines", "sentencepiece-options",
        "protected-symbols", "no-byte-fallback"}},
      {{train, encode, decode}, {"input"}},
      {{encode}, {"alpha"}},
      {{train, encode}, {"seed"}},
      {{encode, decode}, {"ids"}},
      {{encode, decode, inspect}, {"output"}},
  };
  for (const auto& [actions, options] : uses)
    for (const std::string& option : options) {
      if (std::ranges::count(actions, o.action) > 0 || !given.changed(option)) continue;
      Strings names;
      for (const VocabAction action : actions) names.emplace_back(name_of(action));
      findings.add(Error(
          fmt::format("--{} is for vocab {}, not for vocab {}", option, fmt::join(names, ", "), name_of(o.action))));
    }
}

void check_trainer_options(const O& o, const Given& given, Findings& findings) {
  findings.attempt([&] {
    const TrainerOptions options = trainer_options(o.sentencepiece_options);
    for (const auto& [option, theirs] :
         {std::pair("character-coverage", "character_coverage"), {"no-byte-fallback", "byte_fallback"}})
      findings.expect(!given.changed(option) || !options.contains(theirs),
                      "--{} and --{} of --sentencepiece-options set the same: give one", option, theirs);
  });
}

void check(O& o, const Given& given, Findings& findings) {
  check_trainer_options(o, given, findings);
  findings.expect(!given("action") || o.action != VocabAction::train || !o.inputs.empty(),
                  "dragoman vocab train needs --input FILE...: the text to learn from");
  check_stdin("input", o.inputs, findings);
  check_uses(o, given, findings);
  findings.expect(o.action != VocabAction::encode || o.alpha > 0 || !given.changed("seed"),
                  "--seed is for --alpha, which is not given");
}

void correct_files(const O& o, CommandFiles& files) {
  if (o.action == VocabAction::train)
    files = {.read = {{"--input", o.inputs}}, .written = {{"--model", {o.model}}}};
  else if (o.inputs.empty())
    files.read.push_back({"--input", {"-"}});
}

}  // namespace

Table<O> vocab_table() {
  return {.about = {.name = "vocab",
                    .summary = "train and use SentencePiece vocabularies",
                    .usage = "train|encode|decode|inspect -m FILE [OPTION...]",
                    .text = "train learns a vocabulary from text, or lists the tokens of text if --model ends "
                            "in .yml, .json or .txt; encode splits lines into pieces, decode joins "
                            "pieces to lines, inspect describes a vocabulary."},
          .flags = joined(file_flags(), training_flags(), machine_flags<O>("Training"), encoding_flags()),
          .check = check,
          .files = correct_files};
}

}  // namespace dragoman
