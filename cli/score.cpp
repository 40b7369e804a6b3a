#include <optional>
#include <variant>

#include "backend/backend.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/grouped.h"
#include "base/line_writer.h"
#include "base/log.h"
#include "cli/commands.h"
#include "cli/profiled.h"
#include "cli/ranks.h"
#include "cli/score_options.h"
#include "score/shared_scoring.h"

namespace dragoman {
namespace {

TextPair text_of(const ScoreCommandOptions& options) {
  return {.paths = {options.train_sets.front(), options.train_sets.back()}, .tsv = options.tsv};
}

void write_summary(LineWriter& out, const ScoreCommandOptions& options, const ScoreTotals& totals) {
  require(totals.pairs > 0, "--summary {}: there is nothing to score, no line in {}", name_of(options.summary),
          text_name({text_of(options)}));
  out.write(fmt::format("{:.6f}", totals.figure(options.summary)));
}

std::variant<PairReader, NBestReader> open(const ScoreCommandOptions& options) {
  if (options.n_best) return NBestReader(text_of(options).paths);
  return PairReader(text_of(options));
}

void report(const ScoreTotals& totals, double seconds) {
  log_info("Scored {} {} with {} target tokens in {:.1f} s: {:.1f} tokens/s", grouped(totals.pairs),
           totals.pairs == 1 ? "pair" : "pairs", grouped(totals.pieces), seconds, double(totals.pieces) / seconds);
}

// Rank 0 of several reads and writes; the others have no `reader`.
void score(const ScoreCommandOptions& options, std::optional<std::variant<PairReader, NBestReader>>& reader,
           const Backend& device, Communicator& ranks) {
  PairScorer scorer(options.model, options, device);
  require_same(ranks, {{"model (checksum)", scorer.checksum()}});
  warn_of_other_arithmetic(ranks, device.arithmetic);
  if (!reader) {
    score_on_ranks(ranks, scorer, options, nullptr);
    return;
  }
  LineWriter out(options.output);  // truncated only now, after all other errors
  const Clock clock;
  const ScoredFiles files{*reader, out};
  const ScoreTotals totals = score_on_ranks(ranks, scorer, options, &files);
  if (options.summary != Summary::none) write_summary(out, options, totals);
  out.close();
  report(totals, clock.seconds());
}

}  // namespace

int score_command(Engine& engine, const ScoreCommandOptions& options) {
  std::optional<std::variant<PairReader, NBestReader>> reader;
  if (engine.ranks().rank() == 0) reader = open(options);
  return profiled(options.profile, engine,
                  [&](const Backend& device) { score(options, reader, device, engine.ranks()); });
}

}  // namespace dragoman
