#include "score/pair_scorer.h"

#include <algorithm>
#include <cmath>

#include "backend/registry.h"
#include "base/error.h"
#include "base/grouped.h"
#include "interop/open_model.h"
#include "model/model.h"

namespace dragoman {
namespace {

std::string side_of(const LinesOrigin& origin, int64_t number, bool source) {
  if (origin.target.empty()) return fmt::format("pair {}: its {} has", number, source ? "source" : "target");
  return fmt::format("{}, line {}:{} has", origin.target, number, source ? " its source" : "");
}

// Memory and time of attention grow with the square of the length.
void require_short(const IdPair& pair, int64_t number, const SentenceFrames& frames, int max_length,
                   const LinesOrigin& origin) {
  for (const auto& [side, pieces] : {std::pair(0, pair.source.size() - frames.source.size()),
                                     std::pair(1, pair.target.size() - frames.target.size())})
    if (pieces > size_t(max_length))
      throw Error(fmt::format("{} {} pieces, more than --max-length {}", side_of(origin, number, side == 0),
                              grouped(int64_t(pieces)), max_length),
                  "split it, or raise --max-length if there is enough memory");
}

// Calls f(i) for 0…count-1, until it throws an Error, which is put in `error`. Returns the number of calls before that.
template <class F>
size_t until_error(size_t count, std::exception_ptr& error, const F& f) {
  for (size_t i = 0; i < count; ++i) {
    try {
      f(i);
    } catch (const Error&) {
      error = std::current_exception();
      return i;
    }
  }
  return count;
}

// The special pieces around a sentence are known to the vocabulary.
void count_unknown(std::span<const IdPair> pairs, const Vocabularies& vocabularies, const SentenceFrames& frames,
                   std::array<UnknownTokens, 2>& unknown) {
  for (const IdPair& pair : pairs) {
    unknown[0].add(pair.source, vocabularies.source.unk());
    unknown[1].add(pair.target, vocabularies.target.unk());
    unknown[0].tokens -= int64_t(frames.source.size());
    unknown[1].tokens -= int64_t(frames.target.size());
  }
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

std::vector<PairScore> PairScores::all() && {
  if (error) std::rethrow_exception(error);
  return std::move(pairs);
}

PairScores score_lines(const ScoringContext& context, Model& model, const Vocabularies& vocabularies,
                       const LinePairs& lines, const ScoreOptions& options, const LinesOrigin& origin) {
  const SentenceFrames frames = context.frames ? *context.frames : frames_of(model.config());
  auto pairs = encode_pairs(vocabularies.source, vocabularies.target, frames, lines, options.no_spm_encode);
  const auto number = [&](size_t i) { return origin.lines_before + int64_t(i) + 1; };
  PairScores scores;
  count_unknown(pairs, vocabularies, frames, scores.unknown);
  pairs.resize(until_error(pairs.size(), scores.error,
                           [&](size_t i) { require_short(pairs[i], number(i), frames, options.max_length, origin); }));
  if (scores.error && origin.target.empty()) return scores;  // a list has all its scores or none
  std::vector<Alignment> alignments;
  const auto log_probs =
      score_pieces(context, model, pairs, options.mini_batch_words, options.alignments ? &alignments : nullptr);
  const auto given = ptrdiff_t(frames.target.before.size());
  until_error(pairs.size(), scores.error, [&](size_t i) {
    require_numbers(log_probs[i], number(i), origin);
    PairScore& score = scores.pairs.emplace_back();
    score.log_probs.assign(log_probs[i].begin() + given, log_probs[i].end());
    if (!options.alignments) return;
    score.alignment = std::move(alignments[i]);
    drop_targets(score.alignment, given);
  });
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

PairScores PairScorer::score(const LinePairs& lines, const LinesOrigin& origin) {
  return score_lines({device_, arena_, loaded_.packed, loaded_.rounded.get()}, *loaded_.model, loaded_.vocabularies,
                     lines, options_, {origin.target, origin.lines_before, model_});
}

std::array<EncodedSide, 2> PairScorer::encoded_sides(const std::array<std::string, 2>& texts) const {
  const auto& [source, target] = loaded_.vocabularies;
  return dragoman::encoded_sides(texts, {source, target}, options_.vocabs, model_, options_.no_spm_encode);
}

}  // namespace dragoman
