#include <cmath>
#include <variant>

#include "backend/registry.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/grouped.h"
#include "base/line_writer.h"
#include "base/log.h"
#include "cli/commands.h"
#include "cli/profiled.h"
#include "cli/score_options.h"
#include "io/model_file.h"
#include "score/n_best_reader.h"
#include "score/pair_reader.h"
#include "score/scorer.h"

namespace dragoman {
namespace {

// Totals over all pairs.
struct Totals {
  int64_t pairs = 0, pieces = 0;  // target tokens, ends of sentences included
  double log_prob = 0;
};

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

std::string word_scores(std::span<const float> pieces) {
  std::string field = "WordScores=";
  for (const float log_prob : pieces) field += fmt::format(" {:.5f}", log_prob);
  return field;
}

double score_of(const ScoreCommandOptions& options, std::span<const float> pieces) {
  return options.normalize ? sum_of(pieces) / double(pieces.size()) : sum_of(pieces);
}

// The model's scores of a pair.
struct Judgement {
  std::span<const float> pieces;
  std::string alignment;  // as text; empty: not requested
};

std::string line_of(const ScoreCommandOptions& options, const PairReader::Window&, size_t, const Judgement& judgement) {
  const auto& [pieces, alignment] = judgement;
  return fmt::format("{:.6f}{}{}", score_of(options, pieces), alignment.empty() ? "" : " ||| " + alignment,
                     options.word_scores ? " ||| " + word_scores(pieces) : "");
}

std::string line_of(const ScoreCommandOptions& options, const NBestReader::Window& window, size_t i,
                    const Judgement& judgement) {
  const auto& [pieces, alignment] = judgement;
  NBestEntry entry = window.entries[i];
  entry.features += fmt::format(" {}= {:.6g}", options.n_best_feature, score_of(options, pieces));
  if (!alignment.empty()) entry.alignment = alignment;
  if (options.word_scores) entry.word_scores = word_scores(pieces);
  return to_line(entry);
}

// Memory and time of attention grow with the square of the length.
void require_short(std::span<const IdPair> pairs, const ScoreCommandOptions& options, int64_t lines_before) {
  for (size_t i = 0; i < pairs.size(); ++i)
    for (const auto& [side, ids] : {std::pair(0, &pairs[i].source), std::pair(1, &pairs[i].target)})
      if (const auto pieces = int64_t(ids->size()) - 1; pieces > options.max_length)
        throw Error(fmt::format("{}, line {}: {} {} pieces, more than --max-length {}", options.train_sets[1],
                                lines_before + int64_t(i) + 1, side == 0 ? "its source has" : "has", pieces,
                                options.max_length),
                    "split it, or raise --max-length if there is enough memory");
}

// Scores all pairs of the reader, one window at a time, and writes a line for each unless a summary is requested.
template <class Reader>
Totals score_all(Reader& reader, const ScoreCommandOptions& options, const ScoringContext& context,
                 const LoadedModel& loaded, LineWriter& out) {
  Totals totals;
  const auto& [source, target] = loaded.vocabularies;
  for (typename Reader::Window window; !(window = reader.next(options.maxi_batch_lines)).source.empty();) {
    const auto pairs = encode_pairs(source, target, window, options.no_spm_encode);
    require_short(pairs, options, totals.pairs);
    std::vector<Alignment> alignments;
    const bool aligned = options.alignment.kind != AlignmentStyle::none;
    const auto scores =
        score_pieces(context, *loaded.model, pairs, options.mini_batch_words, aligned ? &alignments : nullptr);
    for (size_t i = 0; i < scores.size(); ++i) {
      ++totals.pairs;
      totals.pieces += int64_t(scores[i].size());
      totals.log_prob += sum_of(scores[i]);
      if (options.summary != Summary::none) continue;
      const std::string alignment = aligned ? to_text(alignments[i], options.alignment) : "";
      out.write(line_of(options, window, i, {scores[i], alignment}));
    }
    if (!reader.ready()) out.flush();
  }
  return totals;
}

void write_summary(LineWriter& out, const ScoreCommandOptions& options, const Totals& totals) {
  require(totals.pairs > 0, "--summary {}: there is nothing to score, {} and {} have no lines",
          name_of(options.summary), options.train_sets[0], options.train_sets[1]);
  out.write(fmt::format("{:.6f}", figure(options.summary, totals)));
}

std::variant<PairReader, NBestReader> open(const ScoreCommandOptions& options) {
  const std::array files = {options.train_sets[0], options.train_sets[1]};
  if (options.n_best) return NBestReader(files);
  return PairReader(files);
}

void report(const Totals& totals, double seconds) {
  log_info("Scored {} {} with {} target pieces in {:.1f} s: {:.1f} pieces/s", grouped(totals.pairs),
           totals.pairs == 1 ? "pair" : "pairs", grouped(totals.pieces), seconds, double(totals.pieces) / seconds);
}

void score(const ScoreCommandOptions& options, std::variant<PairReader, NBestReader>& reader, const Backend& device) {
  Arena arena = arena_of(device);
  const LoadedModel loaded = load_model(options.model, device, arena);
  const ScoringContext context{device, arena, loaded.packed};

  LineWriter out(options.output);  // truncated only now, after all other errors
  const Clock clock;
  const Totals totals = std::visit([&](auto& r) { return score_all(r, options, context, loaded, out); }, reader);
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
