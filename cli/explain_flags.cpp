#include "base/error.h"

#include "cli/commands.h"
#include "cli/explain_options.h"
#include "options/flags.h"
#include "options/shared_flags.h"

namespace dragoman {
namespace {

using O = ExplainCommandOptions;

std::vector<Flag<O>> file_flags() {
  static constexpr auto group = "Files";
  return {
      {.name = "model",
       .letter = 'm',
       .field = &O::model,
       .value = "FILE",
       .group = group,
       .help = "the model, which includes its vocabularies",
       .use = FileUse::read_model},
      {.name = "train-sets",
       .letter = 't',
       .field = &O::train_sets,
       .value = "SOURCE TARGET",
       .group = group,
       .help = "pairs of lines to explain"},
      {.name = "input",
       .letter = 'i',
       .field = &O::input,
       .value = "FILE",
       .group = group,
       .help = "text to translate and explain, unless --train-sets is given; - is stdin"},
      {.name = "output",
       .letter = 'o',
       .field = &O::output,
       .value = "FILE",
       .group = group,
       .help = "explanations; - is stdout",
       .use = FileUse::written},
      {.name = "format",
       .field = &O::format,
       .value = "FORMAT",
       .group = group,
       .help =
           "html: a self-contained web page; json: one object per line (docs/explain.md); text: shades for a terminal; "
           "auto: according to the extension of --output (.html, .json, .jsonl), else text (--positions: html)"},
      no_spm_encode_flag<O>(group),
  };
}

std::vector<Flag<O>> choice_flags() {
  static constexpr auto group = "What is shown";
  return {
      {.name = "method",
       .field = &O::method,
       .value = "METHOD",
       .group = group,
       .help =
           "raw: the weights themselves; rollout: the share of each input in each vector, propagated through the "
           "layers (Abnar & Zuidema 2020); gradient: each weight times the gradient of the target's log-probability"},
      {.name = "positions",
       .field = &O::positions,
       .group = group,
       .help = "show the position embeddings of --max-length positions instead of attention, as a page or JSON; "
               "without --model: the sinusoids of Vaswani et al. 2017 with dim 128"},
      {.name = "sites",
       .field = &O::sites,
       .value = "SITE...",
       .group = group,
       .help = "kinds of attention to show: encoder-self, decoder-self, cross; default: all that the model has"},
      {.name = "layers",
       .field = &O::layers,
       .value = "N...",
       .group = group,
       .help = "layers to show, counted from 0; -1 is the last, -2 the one before; default: all, but with --format "
               "text the last",
       .range = {-1000, 1000}},
      {.name = "heads",
       .field = &O::heads,
       .value = "N...",
       .group = group,
       .help = "heads to show, counted from 0; default: all, but with --format text their mean",
       .range = {0, 1000}},
      {.name = "average",
       .field = &O::average,
       .group = group,
       .help = "show the mean of these heads instead of each of them"},
      {.name = "max-length",
       .field = &O::max_length,
       .value = "N",
       .group = group,
       .help = "skip lines of more than N pieces on a side, with a warning; output grows with the square of the length",
       .range = {1, 100'000}},
      {.name = "max-lines",
       .field = &O::max_lines,
       .value = "N",
       .group = group,
       .help = "explain the first N lines; 0: all",
       .range = {0, 1e15}},
  };
}

std::vector<Flag<O>> run_flags() {
  static constexpr auto group = "Run";
  return {
      beam_size_flag<O>(group, "hypotheses per sentence when translating --input"),
  };
}

ExplanationFormat format_of(const ExplainCommandOptions& o) {
  if (o.output.ends_with(".json") || o.output.ends_with(".jsonl")) return ExplanationFormat::json;
  return o.positions || o.output.ends_with(".html") ? ExplanationFormat::html : ExplanationFormat::text;
}

void check_positions(const O& o, const Given& given, Findings& findings) {
  for (const char* of_text : {"train-sets", "input", "method", "sites", "layers", "heads", "average", "max-lines",
                              "beam-size", "no-spm-encode", "source-lang", "target-lang"})
    findings.expect(!given.changed(of_text), "--{} contradicts --positions, which shows position embeddings, not text",
                    of_text);
  findings.expect(o.format != ExplanationFormat::text,
                  "--format text contradicts --positions, which prints a picture or numbers");
}

void check(O& o, const Given& given, Findings& findings) {
  if (o.format == ExplanationFormat::automatic) o.format = format_of(o);
  check_vocabs(o, findings);
  if (o.positions) return check_positions(o, given, findings);
  findings.expect(!o.model.empty(), "--model is missing: the model whose attention is shown");
  check_pair("train-sets", o.train_sets, findings);
  findings.expect(
      o.train_sets.empty() || !given.changed("input"),
      "--input and --train-sets: give one; --input is translated, the pairs of --train-sets are explained as they "
      "are");
  findings.expect(o.train_sets.empty() || !given.changed("beam-size"),
                  "--beam-size {} is for --input, --train-sets are not translated", o.beam_size);
  findings.expect(o.method != AttentionMethod::rollout || !given("heads"),
                  "--heads contradicts --method rollout, which uses the mean of all heads");
  if (o.format != ExplanationFormat::text) return;
  if (!given("layers")) o.layers = {-1};
  if (!given("heads")) o.average = true;
}

}  // namespace

Table<ExplainCommandOptions> explain_table() {
  return {.about = {.name = "explain",
                    .summary = "show what a model attends to",
                    .usage = "-m MODEL [-o page.html] [OPTION...] < TEXT",
                    .text = "Translates lines, or reads pairs of lines, and shows the model's attention in each: every "
                            "layer and head as a web page or JSON, or shades in the terminal."},
          .flags = joined(file_flags(), open_flags<O>("Files"), choice_flags(), run_flags(), machine_flags<O>("Run")),
          .check = check};
}

}  // namespace dragoman
