#pragma once
#include <algorithm>
#include <deque>
#include <functional>
#include <memory>

#include "align/shortlist.h"
#include "decode/beam.h"
#include "decode/ensemble.h"

namespace dragoman {

/// Search or sampling over many sentences at once, independent of the kind of model. When a sentence ends, the next
/// queued one starts immediately, in the order they were added (continuous batching). The result for a sentence depends
/// on that sentence and the options alone, bit for bit.
class Search {
 public:
  using Found = std::function<void(std::vector<Hypothesis> best)>;  // n_best of them, best first

  /// What the caller needs of hypotheses: only their pieces, or also their log-probabilities. These are 0 if neither
  /// the caller nor the search (to compare hypotheses) needs them.
  enum class Wanted { pieces, log_probs };

  /// `tokens` limits the source tokens in flight (with </s>); twice as many hypotheses are allowed, which is the
  /// tighter limit for wide beams over short sentences. A sentence that exceeds the budget runs alone. With a
  /// shortlist, a translation is limited to the shortlist's candidates and its forced prefix. Options and shortlist
  /// must outlive the search.
  Search(Ensemble models, const SearchOptions& options, int64_t tokens, const Shortlist* shortlist = nullptr,
         Wanted wanted = Wanted::log_probs);

  /// Queues a sentence. `found` is called by the step in which its search ends.
  void add(Sentence sentence, Found found);
  bool idle() const { return active_.empty() && waiting_.empty(); }
  /// Token budget taken by unfinished sentences.
  int64_t tokens() const { return waiting_tokens_ + active_tokens_; }
  /// Whether sentences are queued.
  bool queues() const { return !waiting_.empty(); }
  /// Whether the queue is short, so that more sentences would improve throughput.
  bool wants_more() const { return waiting_tokens_ < tokens_; }
  /// Starts queued sentences that fit the budget, then extends all hypotheses by one token.
  void step();

 private:
  struct Waiting {
    Sentence sentence;
    Found found;
  };
  struct Active {
    int handle;      // of the models
    int64_t tokens;  // its share of the budget
    int first_row;   // of its live hypotheses in the last step
    Beam beam;
    Found found;
  };

  // Its share of the budget.
  int64_t tokens_of(const Waiting& w) const {
    return std::max(int64_t(w.sentence.source.size()) + 1, (int64_t{options_.beam_size} + 1) / 2);
  }
  void admit();
  std::vector<int32_t> candidates(const Sentence& sentence) const;
  std::vector<StepRow> rows();
  std::vector<Request> requests() const;
  void dismiss_finished();

  Ensemble models_;
  const SearchOptions& options_;
  const std::unique_ptr<const Picker> picker_;
  const bool log_probs_;  // whether they are needed
  const int64_t tokens_;
  const Shortlist* const shortlist_;  // null: all pieces may follow
  std::deque<Waiting> waiting_;
  std::vector<Active> active_;
  int64_t waiting_tokens_ = 0, active_tokens_ = 0;
};

/// Translates sentences (pieces without </s>, one per line) and returns the n best of each.
std::vector<std::vector<Hypothesis>> beam_search(Context& cx, Model& model, const SearchOptions& options,
                                                 int64_t tokens, std::span<const std::vector<int32_t>> sources,
                                                 const Shortlist* shortlist = nullptr);

}  // namespace dragoman
