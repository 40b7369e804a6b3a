#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/search_flags.h"
#include "cli/translate_options.h"
#include "decode/search_fields.h"
#include "options/flags.h"
#include "options/shared_flags.h"

namespace dragoman {
namespace {

using O = TranslateCommandOptions;

constexpr char beam_size[] = "beam-size";

// The beam size may be given after it: until check(), -1 stands for it.
Field<O> n_best_field() {
  return {[](O& o, const Strings& words, Bounds bounds) {
            if (words == Strings{beam_size})
              o.n_best = -1;
            else
              read_words(o.n_best, words, bounds);
          },
          [](const O& o) { return show_words(o.n_best); }, "", false};
}

std::vector<Flag<O>> file_flags() {
  static constexpr auto group = "Files";
  return {
      {.name = "model",
       .letter = 'm',
       .alias = "models",
       .field = &O::models,
       .value = "FILE...",
       .group = group,
       .help = "the model, which includes its vocabularies; several form an ensemble, whose predictions are averaged; "
               "they may differ in architecture but not in vocabularies",
       .required = true,
       .use = FileUse::read_model},
      {.name = "weights",
       .field = &O::weights,
       .value = "X...",
       .group = group,
       .help = "weights of an ensemble, one per model: sum the log-probabilities with these weights instead; with "
               "--ensemble-mean arithmetic, only their ratio matters",
       .range = {0, 1000}},
      {.name = "ensemble-mean",
       .field = &O::mean,
       .value = "KIND",
       .group = group,
       .help = "what an ensemble averages: geometric: log-probabilities; arithmetic: probabilities; auto: "
               "probabilities for models from fairseq, log-probabilities for all others"},
      {.name = "input",
       .letter = 'i',
       .field = &O::input,
       .value = "FILE",
       .group = group,
       .help = "text to translate; - is stdin"},
      {.name = "output",
       .letter = 'o',
       .field = &O::output,
       .value = "FILE",
       .group = group,
       .help = "translations, one line per input line, in the same order; - is stdout",
       .use = FileUse::written},
      no_spm_encode_flag<O>(group),
      {.name = "force-decode",
       .field = &O::force_decode,
       .group = group,
       .help = "force each translation to begin with a prefix: the text after the first tab of its line; further tabs "
               "count as spaces, except with --constraints"},
      {.name = "constraints",
       .field = &O::constraints,
       .value = "HOW",
       .group = group,
       .help =
           "lexical constraints: each translation must contain the phrases that follow its line, each behind a tab; "
           "with --force-decode the first field is the prefix; ordered: in this order; without a value: unordered",
       .implicit = "unordered"},
      {.name = "glossary",
       .field = &O::glossary,
       .value = "FILE",
       .group = group,
       .help = "terminology: lines of a term of the source, a tab and its translation, which must occur in the "
               "translation of every line that contains the term (docs/search.md)"},
      {.name = "avoid",
       .field = &O::avoid,
       .value = "FILE",
       .group = group,
       .help = "forbidden phrases, one per line: no translation contains one, unless --force-decode demands it "
               "(docs/search.md)"},
      {.name = "n-best",
       .field = n_best_field(),
       .value = "N",
       .group = group,
       .help = "print the N best translations of each line as 'line ||| translation ||| scores'; without a value: N is "
               "the beam size",
       .range = search_bounds("n_best"),
       .implicit = beam_size},
      {.name = "scores",
       .field = &O::scores,
       .group = group,
       .help = "print the log-probability and a tab in front of each translation"},
      alignment_flag<O>(group),
      {.name = "word-scores",
       .field = &O::word_scores,
       .group = group,
       .help = "append ' ||| WordScores=' and the log-probability of each token to each translation"},
  };
}

std::vector<Flag<O>> sampling_flags() {
  static constexpr auto group = "Sampling";
  return {
      {.name = "output-sampling",
       .field = &O::output_sampling,
       .value = "full|topk K|nucleus P",
       .group = group,
       .help = "sample translations instead of searching: from all pieces, from the K most probable (top-k, default "
               "10), or "
               "from the smallest set with a total probability of P (top-p, default 0.9); without a value: full. "
               "--n-best N "
               "draws N translations",
       .implicit = "full"},
      {.name = "temperature",
       .field = &O::temperature,
       .value = "T",
       .group = group,
       .help = "divide logits by T before sampling: below 1 favours likely pieces, above 1 unlikely ones",
       .range = search_bounds("temperature")},
      {.name = "seed",
       .field = &O::seed,
       .value = "N",
       .group = group,
       .help = "random seed of sampling; a line's translation depends on the line, its number and the seed"},
  };
}

std::vector<Flag<O>> run_flags() {
  static constexpr auto group = "Run";
  return {
      {.name = "precision",
       .field = &O::precision,
       .value = "TYPE",
       .group = group,
       .help =
           "number type of matrix products; auto: int8 if dragoman quantize wrote the model, else float32; bfloat16: "
           "weights rounded to 16 bits, half the memory; float16: likewise, on GPUs only; int8: weights and "
           "activations rounded to 8 bits, a quarter of the memory, faster on CPUs, slightly different translations"},
      shortlist_flag<O>(group),
      tokens_in_flight_flag<O>(group),
      {.name = "maxi-batch-lines",
       .field = &O::maxi_batch_lines,
       .value = "N",
       .group = group,
       .help = "maximum number of lines in memory: read ahead, or translated and waiting for earlier lines",
       .range = {1, 10'000'000}},
  };
}

constexpr auto help_of_profile =
    "at the end, print the time spent in each kernel to stderr; this runs one search at a time, with all threads";

void read_sampling(O& o) {
  const auto& words = o.output_sampling;
  const auto kind = from_name<Sampling>(words[0]);
  require(kind && words.size() <= (kind == Sampling::full ? 1 : 2),
          "--output-sampling: expected full, topk K or nucleus P, found {}", fmt::join(words, " "));
  o.sampling = *kind;
  if (words.size() < 2) return;
  if (kind == Sampling::topk)
    o.sampling_pieces = number_of<int>("output-sampling topk", words[1], search_bounds("sampling_pieces"));
  if (kind == Sampling::nucleus)
    o.sampling_mass = number_of<double>("output-sampling nucleus", words[1], search_bounds("sampling_mass"));
}

// Commands and configurations of Marian and fairseq name a seed, whether they sample or not.
void check_without_sampling(const O& o, const Given& given, Findings& findings) {
  if (given.changed("seed")) {
    const std::string_view file = given.file_of("seed");
    findings.ignore(file.empty() ? "--seed" : fmt::format("seed ({})", file), "it is for --output-sampling");
  }
  const auto is_given = [&](std::string_view name) { return name == "temperature" && given(name); };
  findings.attempt([&] { require_effective(o, is_given, as_option); });
}

void check_sampling(O& o, const Given& given, Findings& findings) {
  if (o.output_sampling.empty()) return check_without_sampling(o, given, findings);
  findings.attempt([&] { read_sampling(o); });
  const int drawn = resolved(o).beam_size;
  if (given.changed("beam-size") && o.beam_size > drawn) {
    const std::string_view file = given.file_of("beam-size");
    if (file.empty())
      findings.add(Error(
          fmt::format("--beam-size {} contradicts --output-sampling, which samples instead of searching", o.beam_size),
          "leave out --beam-size; --n-best N draws N translations of a line"));
    else
      findings.ignore(fmt::format("beam-size ({})", file), "--output-sampling samples instead of searching");
  }
  o.beam_size = drawn;
}

void check_phrases(const O& o, Findings& findings) {
  const bool constraints = o.constraints != LineConstraints::none;
  if (o.sampling != Sampling::none && (constraints || !o.glossary.empty()))
    findings.add(
        Error(fmt::format("--output-sampling contradicts --{}: only a search makes translations contain phrases",
                          constraints ? "constraints" : "glossary"),
              "leave --output-sampling out"));
  findings.expect(
      o.constraints != LineConstraints::ordered || o.glossary.empty(),
      "--constraints ordered and --glossary: the terms of a glossary have no order; give --constraints alone");
  findings.expect(o.glossary != "-" || o.input != "-", "--glossary - and --input - both read stdin: name a file");
  const std::string_view other = o.input == "-" ? "input" : o.glossary == "-" ? "glossary" : "";
  findings.expect(o.avoid != "-" || other.empty(), "--avoid - and --{} - both read stdin: name a file", other);
  findings.expect(!o.no_spm_encode || o.glossary.empty(),
                  "--no-spm-encode and --glossary: a glossary is for text that is not split into pieces");
}

void check(O& o, const Given& given, Findings& findings) {
  findings.attempt([&] { o.devices = backend_names(o.devices, o.fast_math); });
  findings.attempt([&] { validate(static_cast<const EnsembleOptions&>(o)); });
  check_vocabs(o, findings);
  findings.attempt([&] { read_shortlist(o, o); });
  read_length_penalty(o, o, given, findings);
  if (o.n_best < 0) o.n_best = o.beam_size;
  check_sampling(o, given, findings);
  findings.expect(o.n_best == 0 || !o.scores,
                  "--scores and --n-best: give one; n-best lists already contain the scores");
  check_phrases(o, findings);
  findings.attempt([&] { validate(static_cast<const SearchOptions&>(o)); });
}

}  // namespace

Table<O> translate_table() {
  return {.about = {.name = "translate",
                    .summary = "translate text, line by line",
                    .usage = "-m MODEL [OPTION...] < SOURCE > TARGET",
                    .text = "Translates every line of the input into a line of the output. Lines are written as "
                            "soon as they are translated, even while the input stays open."},
          .flags = joined(file_flags(), open_flags<O>("Files"),
                          search_flags<O>("Search", "hypotheses per sentence; 1 is greedy search (Marian: 12)"),
                          std::vector{max_length_flag<O>("Search")}, sampling_flags(), run_flags(),
                          shared_work_flags<O>("Run", help_of_profile)),
          .check = check,
          .essentials = {"model", "input", "output", "n-best", "scores", "alignment", "beam-size", "normalize",
                         "output-sampling", "precision", "shortlist", "mini-batch-words", "cpu-threads", "devices"}};
}

}  // namespace dragoman
