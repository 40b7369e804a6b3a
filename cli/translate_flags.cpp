#include "base/error.h"
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
       .help = "the model; it holds its vocabularies",
       .required = true},
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
       .help = "take X from the score for every piece: above 0 for shorter, below for longer translations",
       .range = {-1000, 1000}},
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
      {.name = "allow-unk",
       .field = &O::allow_unk,
       .group = group,
       .help = "let translations hold the unknown piece, written as ⁇"},
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
           "what products are computed in; auto: int8 if dragoman quantize wrote the model, else float32; int8 rounds "
           "weights and activations to 8 bits: faster, a quarter of the memory, translations differ a little"},
      {.name = "mini-batch-words",
       .field = &O::mini_batch_words,
       .value = "N",
       .group = group,
       .help = "source pieces times beam that are translated at once; changes speed and memory, never the result",
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
      {.name = "quiet", .field = &O::quiet, .group = group, .help = "report only warnings and errors"},
  };
}

double gnmt_alpha(const std::vector<std::string>& words) {
  double alpha = 0;
  require(words.size() == 2 && words[0] == "gnmt", "--length-penalty: expected gnmt and a number, found {}",
          fmt::join(words, " "));
  try {
    read_word(alpha, words[1], {0, 10});
  } catch (const Error& e) {
    fail("--length-penalty gnmt: {}", e.what());
  }
  return alpha;
}

void check(O& o, const Given& given) {
  if (!o.length_penalty_words.empty()) {
    o.length_penalty = gnmt_alpha(o.length_penalty_words);
    require(!given("normalize") || o.normalize == 0,
            "--length-penalty and --normalize {} are two ways to divide scores by length: give one", o.normalize);
    o.normalize = 0;
  }
  if (o.n_best < 0) o.n_best = o.beam_size;
  require(o.n_best == 0 || !o.scores, "--scores and --n-best: give one; n-best lists hold their scores already");
  require(o.n_best <= o.beam_size, "--n-best {} is more than --beam-size {} can find", o.n_best, o.beam_size);
}

}  // namespace

Table<O> translate_table() {
  Table<O> table{.about = {.name = "translate",
                           .summary = "translate text, line by line",
                           .usage = "-m MODEL [OPTION...] < SOURCE > TARGET",
                           .text = "Translates every line of the input into a line of the output. A line comes back as "
                                   "soon as it is done, also when the pipe stays open."},
                 .check = check};
  for (auto part : {file_flags, search_flags, run_flags})
    for (auto& flag : part()) table.flags.push_back(std::move(flag));
  return table;
}

}  // namespace dragoman
