#pragma once
#include <algorithm>
#include <deque>
#include <functional>
#include <memory>

#include "align/shortlist.h"
#include "decode/beam.h"
#include "decode/ensemble.h"

namespace dragoman {

/// Search, or sampling, over many sentences at once. It knows no model, only predictions for the rows of handles.
/// Sentences that end leave at once and waiting ones take their place (continuous batching), in the order they were
/// added. What is found for a sentence depends on that sentence and the options alone, to the bit.
class Search {
 public:
  using Found = std::function<void(std::vector<Hypothesis> best)>;  // n_best of them, best first

  /// What is wanted of hypotheses: their pieces alone, or their log-probabilities as well. Those are 0 where neither
  /// the caller wants them nor hypotheses are compared.
  enum class Wanted { pieces, log_probs };

  /// `words` bounds source pieces (with </s>) in the machine at once, and twice as many hypotheses, which binds where a
  /// beam is wide for its sentences; a sentence that alone is more runs alone. With a shortlist a
  /// translation has its candidates, and what it must begin with, to choose from. Options and shortlist outlive the
  /// search.
  Search(Ensemble models, const SearchOptions& options, int64_t tokens, const Shortlist* shortlist = nullptr,
         Wanted wanted = Wanted::log_probs);

  /// Puts a sentence in the queue. `found` is called by the step in which its search ends.
  void add(Sentence sentence, Found found);
  bool idle() const { return active_.empty() && waiting_.empty(); }
  /// What sentences that are not done have of the budget.
  int64_t tokens() const { return waiting_tokens_ + active_tokens_; }
  /// Whether sentences wait in the queue.
  bool queues() const { return !waiting_.empty(); }
  /// Whether the queue is short: then more sentences would help to fill the machine.
  bool wants_more() const { return waiting_tokens_ < tokens_; }
  /// Takes in waiting sentences where there is room, and continues all hypotheses by one piece.
  void step();

 private:
  struct Waiting {
    Sentence sentence;
    Found found;
  };
  struct Active {
    int handle;      // of the models
    int64_t tokens;  // its part of the budget
    int first_row;   // of its live hypotheses in the last step
    Beam beam;
    Found found;
  };

  // Its part of the budget.
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
  const bool log_probs_;  // are needed
  const int64_t tokens_;
  const Shortlist* const shortlist_;  // null: all pieces may follow
  std::deque<Waiting> waiting_;
  std::vector<Active> active_;
  int64_t waiting_tokens_ = 0, active_tokens_ = 0;
};

/// Translates sentences (pieces without </s>, one a line) and gives the n best of each.
std::vector<std::vector<Hypothesis>> beam_search(Context& cx, Model& model, const SearchOptions& options,
                                                 int64_t tokens, std::span<const std::vector<int32_t>> sources,
                                                 const Shortlist* shortlist = nullptr);

}  // namespace dragoman
