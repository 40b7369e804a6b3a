#include <chrono>
#include <cmath>
#include <filesystem>

#include "backend/registry.h"
#include "base/error.h"
#include "base/grouped.h"
#include "base/line_writer.h"
#include "base/log.h"
#include "cli/options.h"
#include "io/model_file.h"
#include "score/pair_reader.h"
#include "score/scorer.h"

namespace dragoman {
namespace {

using Clock = std::chrono::steady_clock;

// Sums over all pairs.
struct Totals {
  int64_t pairs = 0, pieces = 0;  // pieces of the target, ends of sentences included
  double log_prob = 0;
};

void check(const ScoreOptions& options) {
  std::error_code ignored;  // files that are not there are the same as no other
  for (const std::string& input : options.train_sets)
    require(!std::filesystem::equivalent(input, options.output, ignored),
            "--output {} is one of --train-sets: it would be emptied before it is read", options.output);
  if (options.normalize && options.summary != Summary::none)
    throw Error(fmt::format("--normalize contradicts --summary {}, which is of whole log-probabilities",
                            name_of(options.summary)),
                "--summary ce-mean-words is the mean over target pieces");
}

double figure(Summary summary, const Totals& totals) {
  const double a_word = -totals.log_prob / double(totals.pieces);
  switch (summary) {
    case Summary::none:
    case Summary::cross_entropy:
    case Summary::ce_mean:
      break;
    case Summary::ce_mean_words:
      return a_word;
    case Summary::perplexity:
      return std::exp(a_word);
  }
  return -totals.log_prob / double(totals.pairs);
}

// Writes the scores of one window, or only adds them up where a summary is asked for.
void write_scores(LineWriter& out, const ScoreOptions& options, std::span<const IdPair> pairs,
                  std::span<const double> log_probs, Totals& totals) {
  for (size_t i = 0; i < pairs.size(); ++i) {
    const auto pieces = int64_t(pairs[i].target.size());
    ++totals.pairs;
    totals.pieces += pieces;
    totals.log_prob += log_probs[i];
    if (options.summary != Summary::none) continue;
    out.write(fmt::format("{:.6f}", options.normalize ? log_probs[i] / double(pieces) : log_probs[i]));
  }
}

void write_summary(LineWriter& out, const ScoreOptions& options, const Totals& totals) {
  require(totals.pairs > 0, "--summary {} has nothing to sum up: {} and {} have no lines", name_of(options.summary),
          options.train_sets[0], options.train_sets[1]);
  out.write(fmt::format("{:.6f}", figure(options.summary, totals)));
}

void report(const Totals& totals, Clock::time_point begin) {
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  spdlog::info("Scored {} {} with {} target pieces in {:.1f} s: {:.1f} pieces/s", grouped(totals.pairs),
               totals.pairs == 1 ? "pair" : "pairs", grouped(totals.pieces), seconds, double(totals.pieces) / seconds);
}

}  // namespace

int score_command(const ScoreOptions& options) {
  check(options);
  PairReader reader({options.train_sets[0], options.train_sets[1]});
  const Backend& cpu = backend("cpu");
  Arena arena;
  const LoadedModel loaded = load_model(options.model, cpu, arena);
  const auto& [source, target] = loaded.vocabularies;

  LineWriter out(options.output);  // emptied last, when nothing that was asked for can be wrong any more
  const auto begin = Clock::now();
  Totals totals;
  for (LinePairs lines; !(lines = reader.next(options.maxi_batch_lines)).source.empty();) {
    const auto pairs = encode_pairs(source, target, lines, options.no_spm_encode);
    const auto log_probs = score_pairs({cpu, arena, loaded.packed}, *loaded.model, pairs, options.mini_batch_words);
    write_scores(out, options, pairs, log_probs, totals);
    if (!reader.ready()) out.flush();
  }
  if (options.summary != Summary::none) write_summary(out, options, totals);
  out.close();
  report(totals, begin);
  return 0;
}

}  // namespace dragoman
