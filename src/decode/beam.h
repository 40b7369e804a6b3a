#pragma once
#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "decode/continuation.h"
#include "decode/options.h"
#include "decode/required_phrases.h"
#include "decode/search_rule.h"

namespace dragoman {

/// A sentence to translate.
struct Sentence {
  std::vector<int32_t> source;       // pieces, without the special pieces around them
  std::vector<int32_t> prefix = {};  // forced prefix of the translation
  uint64_t line = 0, segment = 0;    // keys of random draws: line of the input, segment of a long line
  Constraints constraints = {};      // in addition to those of the options
  Phrases phrases = {};              // that the translation must contain
  size_t repeated = 0;               // pieces at the beginning of `source` that its text lacks: tags of a whole line
  std::shared_ptr<const SentenceFrames> frames = {};  // of the languages of this sentence; null: those of the models
};

/// The special pieces around a sentence: its own, or those of the models.
const SentenceFrames& frames_of(const Sentence& sentence, const Conventions& conventions);

/// The most groups of hypotheses that have some piece of a phrase.
constexpr int most_groups = 64;

/// The most hypotheses of a sentence at once. With phrases they are more than the beam size: the hypotheses that have
/// none of the phrases yet, those that have the first piece, and so on share the beam, and each group needs a place.
int beam_width(const SearchOptions& options, const Sentence& sentence);

/// Leaves out the phrases that no translation can contain: those with pieces that are never predicted, such as <unk>,
/// and those that are forbidden by a constraint which phrases do not override.
void drop_impossible(Sentence& sentence, const SearchOptions& options, const Conventions& conventions);

/// What the caller needs to know about hypotheses: only their pieces, or also their log-probabilities.
/// Log-probabilities that neither the caller nor the search needs are 0.
enum class Wanted { pieces, log_probs };

/// A translation found by a search.
struct Hypothesis {
  std::vector<int32_t> ids;                 // without </s> and the given tokens before the translation
  double log_prob = 0;                      // of all tokens, </s> included
  double score = 0;                         // for ranking hypotheses (decode/scoring.h)
  int length = 0;                           // predicted tokens: the ids and </s>, which is missing at the length limit
  std::vector<float> piece_log_probs = {};  // of each predicted token
  std::vector<double> by_model = {};        // log_prob under each model, unweighted; empty for one model
  bool operator==(const Hypothesis&) const = default;
};

/// The hypothesis as a target in this frame, without </s> if it has reached the length limit.
std::vector<int32_t> target_of(const Hypothesis& hypothesis, const SentenceFrame& frame);

/// The hypotheses of one sentence, extended by one token per step. By Marian's rule each hypothesis that ends narrows
/// the beam by one, so a search is over when `beam_size` have ended. It stops earlier, with the same result, when no
/// live hypothesis can still reach the n best. EndingRule describes the rules of other programs. At the length limit,
/// and where no token may follow, live hypotheses end without </s>. Equal probabilities are ordered by hypothesis, then
/// by id, so the result depends only on the arguments.
///
/// Required phrases (Post and Vilar 2018, section 3): hypotheses are grouped by the number of pieces that they have of
/// the phrases, and the positions of the beam are dealt out to the groups in turn. The pieces that begin or continue a
/// phrase always compete. A hypothesis ends only when it has all phrases; without them, at the length limit, it ranks
/// after those that have them. Phrases override constraints that yield to them (no_repeat_ngram), and a forced prefix
/// overrides phrases.
class Beam {
 public:
  /// A hypothesis to continue: `parent` is its index in live() one step before, -1 at the start.
  struct Live {
    int parent;
    int32_t token;
    double log_prob;
    int node;                               // of its last token
    std::vector<Constraint::State> states;  // one per constraint; empty: no constraint has states
    RequiredPhrases::State phrases = {};    // if there are phrases
  };

  /// The options must outlive the beam.
  Beam(const SearchOptions& options, const Sentence& sentence, const Conventions& conventions = conventions_of());

  const std::vector<Live>& live() const { return live_; }  // best first; empty when the search is over
  std::vector<RowRequest> requests() const;                // one per live() hypothesis
  size_t room() const { return width().live; }             // the most that live() can have next
  bool has_phrases() const { return bool(phrases_); }
  int given() const { return given_; }                     // tokens before the translation
  bool at_limit() const { return length_ + 1 >= limit_; }  // whether the next step is certainly the last one
  void advance(std::span<const std::vector<Continuation>> continuations);  // one list per request
  std::vector<Hypothesis> best() const;                                    // the n best finished ones, best first
  /// For each of them, and for each of its tokens, also those before the translation, the row that predicted it: the
  /// index in live() of the hypothesis that it continued.
  std::vector<std::vector<int32_t>> rows_of_best() const;
  /// The beginning of the best translation, as far as it is certain: the common prefix of all hypotheses that can still
  /// win. It only grows.
  std::vector<int32_t> decided() const;

 private:
  struct Candidate {
    double log_prob;  // of the whole hypothesis
    int parent;
    const Continuation* next;
  };
  struct Node {
    int previous;
    int row;  // index in live() of the hypothesis that it continues
    int32_t id;
    float log_prob;
    std::vector<float> by_model;
  };
  struct Ended {
    double score, log_prob;
    int node, length;
    bool lacks;  // a required phrase
  };

  struct Width {
    size_t candidates, ending, live;  // continuations that are compared, that may end, that continue
  };

  Width width() const;
  bool costs_nothing() const;
  bool over() const;
  std::vector<Candidate> best_candidates(std::span<const std::vector<Continuation>> continuations) const;
  Allowed allowed(const Live& hypothesis) const;
  std::vector<int32_t> required(const Live& hypothesis, const Allowed& allowed) const;
  void deal_out(std::vector<Candidate>& candidates) const;
  Live continued(const Candidate& candidate, int node) const;
  std::vector<int32_t> pieces(int node) const;
  std::vector<int32_t> translated(int node) const;
  std::span<const Ended> best_ended() const { return std::span(ended_).first(std::min(wanted(), ended_.size())); }
  Hypothesis hypothesis(const Ended& ended) const;
  bool can_improve() const;
  bool lacks_phrases(const Live& hypothesis) const;
  void end(int node, double log_prob, bool lacks);
  void end_all();
  size_t beam() const { return beam_; }
  size_t wanted() const { return size_t(std::max(1, options_->n_best)); }

  const SearchOptions* options_;
  size_t beam_;
  int32_t eos_;
  EndingRule rule_;
  int given_;  // given tokens before the translation, whose log-probabilities do not count
  int limit_;  // maximum number of tokens, with the given ones
  Constraints constraints_;
  std::optional<RequiredPhrases> phrases_;
  bool stateful_;      // some constraint has states
  bool same_for_all_;  // the same pieces may follow all hypotheses
  PhiloxCounter draw_;
  int length_ = 0;  // completed steps
  bool best_ended_ = false;
  std::vector<Live> live_;
  std::vector<Node> nodes_;   // tokens of all hypotheses, each linked to its predecessor
  std::vector<Ended> ended_;  // best first
};

}  // namespace dragoman
