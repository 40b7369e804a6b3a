#include "score/shared_scoring.h"

#include <fmt/format.h>

#include <cstdlib>

#include "comm/shared_work.h"

namespace dragoman {
namespace {

// What a rank reports about a pair.
struct Scored {
  double log_prob;
  int64_t pieces;
  std::string alignment, word_scores;  // empty if not requested; a requested alignment may have no links
};

// Three lines, with all digits of numbers.
std::string to_text(const PairScore& pair, const ScoreFileOptions& o) {
  return fmt::format("{:a} {}\n{}\n{}\n", pair.log_prob(), pair.log_probs.size(),
                     o.alignments ? to_text({pair.alignment, o.alignment}, o.alignment) : "",
                     o.word_scores ? word_scores_field(pair.log_probs) : "");
}

Scored scored(LineCursor& lines) {
  const std::string numbers(lines.next());
  char* end = nullptr;
  Scored pair{.log_prob = std::strtod(numbers.c_str(), &end)};
  pair.pieces = std::stoll(end);
  pair.alignment = lines.next();
  pair.word_scores = lines.next();
  return pair;
}

double score_of(const ScoreFileOptions& options, const Scored& pair) {
  return options.normalize ? pair.log_prob / double(pair.pieces) : pair.log_prob;
}

std::string line_of(const ScoreFileOptions& options, const PairReader::Window&, size_t, const Scored& pair) {
  return fmt::format("{:.6f}{}{}", score_of(options, pair), options.alignments ? " ||| " + pair.alignment : "",
                     options.word_scores ? " ||| " + pair.word_scores : "");
}

std::string line_of(const ScoreFileOptions& options, const NBestReader::Window& window, size_t i, const Scored& pair) {
  NBestEntry entry = window.entries[i];
  entry.features += fmt::format(" {}= {:.6g}", options.n_best_feature, score_of(options, pair));
  if (options.alignments) entry.alignment = pair.alignment;
  if (options.word_scores) entry.word_scores = pair.word_scores;
  return to_line(entry);
}

std::vector<std::string> items_of(const LinePairs& pairs) {
  std::vector<std::string> items;
  for (size_t i = 0; i < pairs.source.size(); ++i) items.push_back(pairs.source[i] + '\n' + pairs.target[i] + '\n');
  return items;
}

// Of the pairs that this rank has scored; only rank 0 is heard.
class UnknownOfPairs {
 public:
  UnknownOfPairs(const ScoreFileOptions& options, const PairScorer& scorer)
      : UnknownOfPairs(scorer.encoded_sides({options.train_sets.front(), options.train_sets.back()})) {}
  void add(const std::array<UnknownTokens, 2>& more) {
    for (const size_t side : {0, 1}) unknown_[side].add(more[side]), warnings_[side].during(unknown_[side]);
  }
  void end() {
    for (const size_t side : {0, 1}) warnings_[side].at_end(unknown_[side]);
  }

 private:
  explicit UnknownOfPairs(const std::array<EncodedSide, 2>& sides)
      : warnings_{UnknownTokensWarning(sides[0]), UnknownTokensWarning(sides[1])} {}
  std::array<UnknownTokensWarning, 2> warnings_;
  std::array<UnknownTokens, 2> unknown_;
};

// A rank's share of a window.
void score_share(const Share& share, const ScoreFileOptions& options, PairScorer& scorer, UnknownOfPairs& unknown,
                 std::string& text) {
  LinePairs pairs;
  for (LineCursor lines(share.text); !lines.at_end();) {
    pairs.source.emplace_back(lines.next());
    pairs.target.emplace_back(lines.next());
  }
  const PairScores scores = scorer.score(pairs, {options.train_sets.back(), int64_t(share.first)});
  unknown.add(scores.unknown);
  for (const PairScore& pair : scores.pairs) text += to_text(pair, options);
  if (scores.error) std::rethrow_exception(scores.error);
}

// Rank 0 reads all pairs, one window at a time, and writes a line for each unless a summary is requested. In a window
// with an error, only the pairs before it have results.
template <class Reader>
ScoreTotals score_all(Reader& reader, const ScoreFileOptions& options, PairScorer& scorer, Communicator& ranks,
                      LineWriter& out) {
  ScoreTotals totals;
  typename Reader::Window window;
  const auto next = [&] { return items_of(window = reader.next(options.maxi_batch_lines * ranks.size())); };
  const auto finish = [&](const std::vector<std::string>& results) {
    size_t i = 0;
    for (const std::string& of_rank : results)
      for (LineCursor lines(of_rank); !lines.at_end(); ++i) {
        const Scored pair = scored(lines);
        totals.add(pair.log_prob, pair.pieces);
        if (options.summary == Summary::none) out.write(line_of(options, window, i, pair));
      }
    if (i < window.source.size() || !reader.ready()) out.flush();
  };
  const Rounds rounds{next, finish};
  UnknownOfPairs unknown(options, scorer);
  share_work(ranks, &rounds,
             [&](const Share& share, std::string& text) { score_share(share, options, scorer, unknown, text); });
  unknown.end();
  return totals;
}

}  // namespace

ScoreTotals score_on_ranks(Communicator& ranks, PairScorer& scorer, const ScoreFileOptions& options,
                           const ScoredFiles* files) {
  if (files)
    return std::visit([&](auto& reader) { return score_all(reader, options, scorer, ranks, files->out); }, files->in);
  UnknownOfPairs unknown(options, scorer);
  share_work(ranks, nullptr,
             [&](const Share& share, std::string& text) { score_share(share, options, scorer, unknown, text); });
  return {};
}

}  // namespace dragoman
