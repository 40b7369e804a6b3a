#include "score/pair_scorer.h"

#include <algorithm>
#include <cmath>

#include "backend/registry.h"
#include "base/error.h"
#include "base/grouped.h"
#include "data/unknown_pieces.h"
#include "interop/open_model.h"
#include "model/model.h"

namespace dragoman {
namespace {

std::string side_of(const LinesOrigin& origin, int64_t number, bool source) {
  if (origin.target.empty()) return fmt::format("pair {}: its {} has", number, source ? "source" : "target");
  return fmt::format("{}, line {}:{} has", origin.target, number, source ? " its source" : "");
}

// Memory and time of attention grow with the square of the length.
void require_short(std::span<const IdPair> pairs, const SentenceFrames& frames, int max_length,
                   const LinesOrigin& origin) {
  for (size_t i = 0; i < pairs.size(); ++i)
    for (const auto& [side, pieces] : {std::pair(0, pairs[i].source.size() - frames.source.size()),
                                       std::pair(1, pairs[i].target.size() - frames.target.size())})
      if (pieces > size_t(max_length))
        throw Error(fmt::format("{} {} pieces, more than --max-length {}",
                                side_of(origin, origin.lines_before + int64_t(i) + 1, side == 0),
                                grouped(int64_t(pieces)), max_length),
                    "split it, or raise --max-length if there is enough memory");
}

// The first lines show whether the text is split into pieces.
void warn_of_unknown_pieces(std::span<const IdPair> pairs, const Vocabularies& vocabularies) {
  UnknownPieces unknown;
  for (const IdPair& pair : pairs) {
    unknown.add(pair.source, vocabularies.source.unk());
    unknown.add(pair.target, vocabularies.target.unk());
  }
  unknown.warn();
}

void require_numbers(std::span<const float> log_probs, int64_t number, const LinesOrigin& origin) {
  if (std::ranges::none_of(log_probs, [](float x) { return std::isnan(x); })) return;
  throw DamagedModel(fmt::format("{}{} {}: {} gives NaN: its weights are damaged, or its training diverged",
                                 origin.target, origin.target.empty() ? "pair" : ", line", number, origin.model),
                     "use an earlier checkpoint; dragoman inspect shows the contents of a model file");
}

}  // namespace

void ScoreTotals::add(double log_prob_of_pair, int64_t its_pieces) {
  ++pairs;
  pieces += its_pieces;
  log_prob += log_prob_of_pair;
}

double ScoreTotals::figure(Summary summary) const {
  const double a_token = -log_prob / double(pieces);
  switch (summary) {
    case Summary::none:
    case Summary::cross_entropy:
    case Summary::ce_mean:
      break;
    case Summary::ce_mean_words:
      return a_token;
    case Summary::perplexity:
      return std::exp(a_token);
  }
  return -log_prob / double(pairs);
}

std::vector<PairScore> score_lines(const ScoringContext& context, Model& model, const Vocabularies& vocabularies,
                                   const LinePairs& lines, const ScoreOptions& options, const LinesOrigin& origin) {
  const SentenceFrames frames = frames_of(model.config());
  const auto pairs = encode_pairs(vocabularies.source, vocabularies.target, frames, lines, options.no_spm_encode);
  if (options.no_spm_encode && origin.lines_before == 0) warn_of_unknown_pieces(pairs, vocabularies);
  require_short(pairs, frames, options.max_length, origin);
  std::vector<Alignment> alignments;
  const auto log_probs =
      score_pieces(context, model, pairs, options.mini_batch_words, options.alignments ? &alignments : nullptr);
  const auto given = ptrdiff_t(frames.target.before.size());
  std::vector<PairScore> scores(pairs.size());
  for (size_t i = 0; i < scores.size(); ++i) {
    require_numbers(log_probs[i], origin.lines_before + int64_t(i) + 1, origin);
    scores[i].log_probs.assign(log_probs[i].begin() + given, log_probs[i].end());
    if (!options.alignments) continue;
    scores[i].alignment = std::move(alignments[i]);
    drop_targets(scores[i].alignment, given);
  }
  return scores;
}

PairScorer::PairScorer(const std::string& model, const ScoreOptions& options, const Backend& device)
    : model_(model),
      options_(options),
      device_(device),
      arena_(arena_of(device)),
      loaded_(load_model(
          open_model(model, {.vocabs = options.vocabs, .languages = {options.source_lang, options.target_lang}}),
          device, arena_)) {
  frames_of(loaded_.model->config());  // Error if a language is missing
  if (options.alignments) require_cross_attention(loaded_.model->config());
}

std::vector<PairScore> PairScorer::score(const LinePairs& lines, const LinesOrigin& origin) {
  return score_lines({device_, arena_, loaded_.packed, loaded_.rounded.get()}, *loaded_.model, loaded_.vocabularies,
                     lines, options_, {origin.target, origin.lines_before, model_});
}

}  // namespace dragoman
