#include <variant>

#include "base/clock.h"
#include "base/error.h"
#include "base/grouped.h"
#include "base/line_writer.h"
#include "base/log.h"
#include "cli/commands.h"
#include "cli/profiled.h"
#include "cli/score_options.h"
#include "score/n_best_reader.h"
#include "score/pair_reader.h"
#include "score/pair_scorer.h"

namespace dragoman {
namespace {

std::string word_scores(std::span<const float> pieces) {
  std::string field = "WordScores=";
  for (const float log_prob : pieces) field += fmt::format(" {:.5f}", log_prob);
  return field;
}

// The score of a pair as it is written.
struct Written {
  double score;
  std::string alignment, word_scores;  // empty: not requested
};

Written written(const ScoreCommandOptions& o, const PairScore& pair) {
  return {o.normalize ? pair.log_prob() / double(pair.log_probs.size()) : pair.log_prob(),
          o.alignments ? to_text(pair.alignment, o.alignment) : "", o.word_scores ? word_scores(pair.log_probs) : ""};
}

std::string line_of(const ScoreCommandOptions&, const PairReader::Window&, size_t, const Written& w) {
  return fmt::format("{:.6f}{}{}", w.score, w.alignment.empty() ? "" : " ||| " + w.alignment,
                     w.word_scores.empty() ? "" : " ||| " + w.word_scores);
}

std::string line_of(const ScoreCommandOptions& options, const NBestReader::Window& window, size_t i, const Written& w) {
  NBestEntry entry = window.entries[i];
  entry.features += fmt::format(" {}= {:.6g}", options.n_best_feature, w.score);
  if (!w.alignment.empty()) entry.alignment = w.alignment;
  if (!w.word_scores.empty()) entry.word_scores = w.word_scores;
  return to_line(entry);
}

// Scores all pairs of the reader, one window at a time, and writes a line for each unless a summary is requested.
template <class Reader>
ScoreTotals score_all(Reader& reader, const ScoreCommandOptions& options, PairScorer& scorer, LineWriter& out) {
  ScoreTotals totals;
  for (typename Reader::Window window; !(window = reader.next(options.maxi_batch_lines)).source.empty();) {
    const auto scores = scorer.score(window, {options.train_sets[1], totals.pairs});
    for (size_t i = 0; i < scores.size(); ++i) {
      totals.add(scores[i]);
      if (options.summary == Summary::none) out.write(line_of(options, window, i, written(options, scores[i])));
    }
    if (!reader.ready()) out.flush();
  }
  return totals;
}

void write_summary(LineWriter& out, const ScoreCommandOptions& options, const ScoreTotals& totals) {
  require(totals.pairs > 0, "--summary {}: there is nothing to score, {} and {} have no lines",
          name_of(options.summary), options.train_sets[0], options.train_sets[1]);
  out.write(fmt::format("{:.6f}", totals.figure(options.summary)));
}

std::variant<PairReader, NBestReader> open(const ScoreCommandOptions& options) {
  const std::array files = {options.train_sets[0], options.train_sets[1]};
  if (options.n_best) return NBestReader(files);
  return PairReader(files);
}

void report(const ScoreTotals& totals, double seconds) {
  log_info("Scored {} {} with {} target pieces in {:.1f} s: {:.1f} pieces/s", grouped(totals.pairs),
           totals.pairs == 1 ? "pair" : "pairs", grouped(totals.pieces), seconds, double(totals.pieces) / seconds);
}

void score(const ScoreCommandOptions& options, std::variant<PairReader, NBestReader>& reader, const Backend& device) {
  PairScorer scorer(options.model, options, device);
  LineWriter out(options.output);  // truncated only now, after all other errors
  const Clock clock;
  const ScoreTotals totals = std::visit([&](auto& r) { return score_all(r, options, scorer, out); }, reader);
  if (options.summary != Summary::none) write_summary(out, options, totals);
  out.close();
  report(totals, clock.seconds());
}

}  // namespace

int score_command(Engine& engine, const ScoreCommandOptions& options) {
  auto reader = open(options);
  return profiled(options.profile, engine, [&](const Backend& device) { score(options, reader, device); });
}

}  // namespace dragoman
