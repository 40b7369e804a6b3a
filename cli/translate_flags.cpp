#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "cli/devices.h"
#include "cli/tables.h"

namespace dragoman {
namespace {

using O = TranslateCommandOptions;

std::vector<Flag<O>> file_flags() {
  static constexpr auto group = "Files";
  return {
      {.name = "model",
       .letter = 'm',
       .alias = "models",
       .field = &O::models,
       .value = "FILE...",
       .group = group,
       .help = "the model, which holds its vocabularies; several translate together by the mean of their "
               "log-probabilities, of whatever kinds they are, if they share the vocabularies",
       .required = true},
      {.name = "weights",
       .field = &O::weights,
       .value = "X...",
       .group = group,
       .help = "one for each model: log-probabilities are added up with these weights instead",
       .range = {0, 1000}},
      {.name = "input", .letter = 'i', .field = &O::input, .value = "FILE", .group = group, .help = "text; - is stdin"},
      {.name = "output",
       .letter = 'o',
       .field = &O::output,
       .value = "FILE",
       .group = group,
       .help = "translations, a line for every line of the input, in its order; - is stdout"},
      {.name = "no-spm-encode",
       .field = &O::no_spm_encode,
       .group = group,
       .help = "the input is already pieces, separated by blanks"},
      {.name = "force-decode",
       .field = &O::force_decode,
       .group = group,
       .help = "what follows the first tab in a line is text that its translation has to begin with; a tab in that "
               "text is a blank"},
      {.name = "n-best",
       .field = &O::n_best,
       .value = "N",
       .group = group,
       .help =
           "give the N best translations of a line as 'line ||| translation ||| scores'; alone: as many as the beam "
           "is wide",
       .range = {-1, 1024},
       .implicit = "-1"},
      {.name = "scores",
       .field = &O::scores,
       .group = group,
       .help = "put the log-probability and a tab before each translation"},
      {.name = "alignment",
       .field = &O::alignment,
       .value = "hard|soft|X",
       .group = group,
       .help = "put ' ||| ' and which source pieces each target piece was made from after each translation, as Marian "
               "does: hard has a pair i-j for each target piece j, a number X all pairs with a weight above it, soft "
               "the weights; </s> counts as a piece (docs/explain.md); alone: hard",
       .implicit = "hard"},
      {.name = "word-scores",
       .field = &O::word_scores,
       .group = group,
       .help = "put ' ||| WordScores=' and the log-probability of each piece after each translation"},
  };
}

std::vector<Flag<O>> search_flags() {
  static constexpr auto group = "Search";
  return {
      {.name = "beam-size",
       .letter = 'b',
       .field = &O::beam_size,
       .value = "N",
       .group = group,
       .help = "hypotheses a sentence; 1 is greedy search (Marian: 12)",
       .range = {1, 1024}},
      {.name = "normalize",
       .letter = 'n',
       .field = &O::normalize,
       .value = "A",
       .group = group,
       .help = "divide scores by length to the power A; 0: compare plain sums, which favours short translations "
               "(Marian: 0); alone: 1",
       .range = {0, 10},
       .implicit = "1"},
      {.name = "length-penalty",
       .field = &O::length_penalty_words,
       .value = "gnmt A",
       .group = group,
       .help = "divide scores by ((5 + length) / 6) to the power A instead (Wu et al. 2016); the paper has A = 0.6"},
      {.name = "word-penalty",
       .field = &O::word_penalty,
       .value = "X",
       .group = group,
       .help = "take X from the score for every piece, before --normalize: above 0 for shorter, below for longer "
               "translations",
       .range = {-1000, 1000}},
      {.name = "min-length",
       .field = &O::min_length,
       .value = "N",
       .group = group,
       .help = "a translation has at least N pieces, but never more than the limits that follow allow",
       .range = {0, 100'000}},
      {.name = "min-length-factor",
       .field = &O::min_length_factor,
       .value = "X",
       .group = group,
       .help = "… and at least X times as many as its source",
       .range = {0, 1000}},
      {.name = "max-length-add",
       .field = &O::max_length_add,
       .value = "N",
       .group = group,
       .help = "a translation has at most N pieces more than its source",
       .range = {0, 100'000}},
      {.name = "max-length-factor",
       .field = &O::max_length_factor,
       .value = "X",
       .group = group,
       .help = "… or, above 0 and in place of that, at most X times as many (Marian: 3)",
       .range = {0, 1000}},
      {.name = "max-length",
       .field = &O::max_length,
       .value = "N",
       .group = group,
       .help =
           "lines of more than N pieces are translated in parts, cut where a sentence ends if there is such a place",
       .range = {1, 100'000}},
      {.name = "no-repeat-ngram",
       .field = &O::no_repeat_ngram,
       .value = "N",
       .group = group,
       .help = "no N pieces in a row come twice in a translation; 0: they may",
       .range = {0, 1000}},
      {.name = "allow-unk",
       .field = &O::allow_unk,
       .group = group,
       .help = "let translations hold the unknown piece, written as ⁇"},
  };
}

std::vector<Flag<O>> sampling_flags() {
  static constexpr auto group = "Sampling";
  return {
      {.name = "output-sampling",
       .field = &O::output_sampling,
       .value = "full|topk K|nucleus P",
       .group = group,
       .help =
           "draw each piece at random instead of searching: from all pieces, from the K most probable (10), or from "
           "the fewest that have the probability P (0.9) together; alone: full. --n-best N draws N translations",
       .implicit = "full"},
      {.name = "temperature",
       .field = &O::temperature,
       .value = "T",
       .group = group,
       .help = "divide logits by T before a draw: below 1 for likelier, above for wilder translations",
       .range = {0.001, 1000}},
      {.name = "seed",
       .field = &O::seed,
       .value = "N",
       .group = group,
       .help = "of the draws; a line's translation depends on the line, its number and the seed"},
  };
}

std::vector<Flag<O>> run_flags() {
  static constexpr auto group = "Run";
  return {
      {.name = "precision",
       .field = &O::precision,
       .value = "TYPE",
       .group = group,
       .help = "what products are computed in; auto: int8 if dragoman quantize wrote the model, else float32; bfloat16 "
               "rounds weights to 16 bits: half of the memory; float16 likewise, on GPUs only; int8 rounds weights and "
               "activations to 8 bits: a quarter of the memory, faster on CPUs, translations differ a little"},
      {.name = "shortlist",
       .field = &O::shortlist,
       .value = "FILE",
       .group = group,
       .help = "let translations hold only the pieces that this file of dragoman align names for their source: faster, "
               "translations differ a little"},
      {.name = "mini-batch-words",
       .field = &O::mini_batch_words,
       .value = "N",
       .group = group,
       .help =
           "source pieces that each thread, or a GPU, translates at once; changes speed and memory, never the result",
       .range = {1, 10'000'000}},
      {.name = "maxi-batch-lines",
       .field = &O::maxi_batch_lines,
       .value = "N",
       .group = group,
       .help = "lines held at once: read ahead, or done and waiting for one before them; bounds memory",
       .range = {1, 10'000'000}},
      {.name = "cpu-threads",
       .field = &O::cpu_threads,
       .value = "N",
       .group = group,
       .help = "threads; 0: one a core",
       .range = {0, 1024}},
      {.name = "devices",
       .letter = 'd',
       .field = &O::devices,
       .value = "DEVICE...",
       .group = group,
       .help = "where to compute: cpu, or the number of a GPU, counted from 0"},
      {.name = "fast-math",
       .field = &O::fast_math,
       .group = group,
       .help = "on a GPU, products of float32 see 10 bits behind the point (TF32) instead of 23: faster"},
      {.name = "profile",
       .field = &O::profile,
       .group = group,
       .help = "in the end, write to stderr where the time went, kernel by kernel, of one search that has all "
               "threads"},
      {.name = "quiet", .field = &O::quiet, .group = group, .help = "report only warnings and errors"},
  };
}

template <class T>
T number_of(std::string_view option, const std::string& word, Bounds bounds) {
  T number = 0;
  try {
    read_word(number, word, bounds);
  } catch (const Error& e) {
    fail("--{}: {}", option, e.what());
  }
  return number;
}

void check_length(O& o, const Given& given) {
  if (!o.length_penalty_words.empty()) {
    const auto& words = o.length_penalty_words;
    require(words.size() == 2 && words[0] == "gnmt", "--length-penalty: expected gnmt and a number, found {}",
            fmt::join(words, " "));
    o.length_penalty = number_of<double>("length-penalty gnmt", words[1], {0, 10});
    require(!given("normalize") || o.normalize == 0,
            "--length-penalty and --normalize {} are two ways to divide scores by length: give one", o.normalize);
    o.normalize = 0;
  }
  if (o.word_penalty != 0 && o.normalize == 1)
    throw Error(fmt::format("--word-penalty {} changes nothing with --normalize 1, which makes it one number for all",
                            o.word_penalty),
                "give --normalize 0, or another power of the length");
  require(o.max_length_factor == 0 || o.min_length_factor <= o.max_length_factor,
          "--min-length-factor {} is more than --max-length-factor {} allows", o.min_length_factor,
          o.max_length_factor);
}

void read_sampling(O& o) {
  const auto& words = o.output_sampling;
  const auto kind = from_name<Sampling>(words[0]);
  require(kind && words.size() <= (kind == Sampling::full ? 1 : 2),
          "--output-sampling: expected full, topk K or nucleus P, found {}", fmt::join(words, " "));
  o.sampling = *kind;
  if (words.size() < 2) return;
  if (kind == Sampling::topk) o.sampling_pieces = number_of<int>("output-sampling topk", words[1], {1, 1'000'000});
  if (kind == Sampling::nucleus) o.sampling_mass = number_of<double>("output-sampling nucleus", words[1], {0, 1});
}

void check_sampling(O& o, const Given& given) {
  if (o.output_sampling.empty()) {
    require(!given.changed("temperature"), "--temperature {} is for --output-sampling, which is not given",
            o.temperature);
    return;
  }
  read_sampling(o);
  const int drawn = std::max(1, o.n_best);
  if (given.changed("beam-size") && o.beam_size > drawn)
    throw Error(fmt::format("--beam-size {} contradicts --output-sampling, which draws translations and searches none",
                            o.beam_size),
                "--n-best N draws N translations of a line");
  o.beam_size = drawn;
}

void check_models(const O& o) {
  if (o.weights.empty()) return;
  require(o.weights.size() == o.models.size(), "--weights has {} numbers, --model {} files, expected one for each",
          o.weights.size(), o.models.size());
  require(std::ranges::any_of(o.weights, [](double w) { return w > 0; }),
          "--weights are all 0, expected one above 0 at least");
}

void check(O& o, const Given& given) {
  o.devices = {backend_name(o.devices, o.fast_math)};
  check_models(o);
  check_length(o, given);
  if (o.n_best < 0) o.n_best = o.beam_size;
  check_sampling(o, given);
  require(o.n_best == 0 || !o.scores, "--scores and --n-best: give one; n-best lists hold their scores already");
  if (o.n_best > o.beam_size)
    throw Error(fmt::format("--n-best {} is more than --beam-size {} can find", o.n_best, o.beam_size),
                fmt::format("give --beam-size {} or more", o.n_best));
}

}  // namespace

Table<O> translate_table() {
  Table<O> table{
      .about = {.name = "translate",
                .summary = "translate text, line by line",
                .usage = "-m MODEL [OPTION...] < SOURCE > TARGET",
                .text = "Translates every line of the input into a line of the output. A line comes back as "
                        "soon as it is done, also when the pipe stays open."},
      .check = check,
      .essentials = {"model", "input", "output", "n-best", "scores", "alignment", "beam-size", "normalize",
                     "output-sampling", "precision", "shortlist", "mini-batch-words", "cpu-threads", "devices"}};
  for (auto part : {file_flags, search_flags, sampling_flags, run_flags})
    for (auto& flag : part()) table.flags.push_back(std::move(flag));
  return table;
}

}  // namespace dragoman
