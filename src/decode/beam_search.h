#pragma once
#include <algorithm>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <optional>

#include "decode/beam.h"
#include "decode/ensemble.h"
#include "decode/picker.h"
#include "model/model.h"

namespace dragoman {

/// Search or sampling over many sentences at once, independent of the kind of model. Sentences may be added and
/// cancelled between steps, each with its own options. When a sentence ends, the next queued sentence starts
/// immediately, in the order in which they were added (continuous batching). The result for a sentence depends only on
/// that sentence and its options, bit for bit. Not thread-safe.
class Search {
 public:
  using Options = std::shared_ptr<const SearchOptions>;
  using Found = std::function<void(std::vector<Hypothesis> best)>;  // the n_best hypotheses, best first
  using Failed = std::function<void(std::exception_ptr error)>;
  using Partial = std::function<void(std::span<const int32_t> decided)>;  // certain beginning of its best hypothesis
  /// The alignment of a hypothesis: of its predicted tokens, after those that are given. Must not throw.
  using Aligned = std::function<void(const Hypothesis& hypothesis, Alignment alignment)>;
  using Ticket = uint64_t;

  /// `tokens` limits the source tokens in flight (with </s>); twice as many hypotheses are allowed, which is the
  /// tighter limit for wide beams over short sentences. A sentence that exceeds the budget runs alone.
  Search(Ensemble models, int64_t tokens);

  /// Queues a sentence. `found` is called by the step in which its search ends. If a step has no memory for it, that
  /// step calls `failed` instead, or throws if there is no `failed`; likewise if there is none to align its hypotheses.
  /// `partial` is called by each step that decides more tokens (Beam::decided), until the search ends. If
  /// there is `aligned`, it receives the alignments of the hypotheses, in order, before `found` is called; a step
  /// aligns hypotheses with about as many tokens as the budget.
  Ticket add(Sentence sentence, Options options, Wanted wanted, Found found, Failed failed = {}, Partial partial = {},
             Aligned aligned = {});
  /// Cancels a sentence that is queued or being translated: none of its functions is called afterwards. False if it has
  /// already ended; the step in which it has may still call its `found`.
  bool cancel(Ticket ticket);
  bool idle() const { return active_.empty() && waiting_.empty() && ended_.empty(); }
  /// Token budget taken by unfinished sentences.
  int64_t tokens() const { return waiting_tokens_ + active_tokens_; }
  /// Whether unfinished sentences take less than the budget.
  bool has_room() const { return tokens() < tokens_; }
  /// Whether sentences are queued.
  bool queues() const { return !waiting_.empty(); }
  /// Whether the queue is short, so that more sentences would improve throughput: less than `times` what can begin at
  /// once.
  bool wants_more(int times = 1) const { return waiting_tokens_ < times * tokens_; }
  /// Number of sentences that are being translated.
  int64_t active() const { return std::ssize(active_); }
  /// Starts queued sentences that fit the budget, then extends all hypotheses by one token. A sentence for which there
  /// is no memory beside the others waits until one of them ends; alone, it fails. If there is not enough memory to
  /// extend all of them, the sentence that takes the largest share of the budget fails (the last one of several) and
  /// the others are extended. On a device, also begins what the next step would begin with, before it calls `found`.
  /// After an exception, the search must not be used any more.
  void step();

 private:
  struct Waiting {
    Ticket ticket;
    Sentence sentence;
    Options options;
    Wanted wanted;
    Found found;
    Failed failed;
    Partial partial;
    Aligned aligned;
  };
  struct Active {
    Ticket ticket;
    int handle;      // in the ensemble
    int64_t tokens;  // its share of the budget
    int first_row;   // of its live hypotheses in the last step
    int next_row;    // … and in the current step
    int width;       // beam_width()
    Options options;
    bool log_probs;
    std::unique_ptr<const Picker> picker;
    Beam beam;
    Found found;
    Failed failed;
    Partial partial;
    Aligned aligned;
    size_t decided = 0;  // tokens that were passed to `partial`
  };
  struct Ended {
    Active sentence;
    std::vector<Hypothesis> best;
    std::vector<DecodedTokens> to_align;  // one for each of these; empty: no alignments are wanted
    size_t aligned = 0;                   // hypotheses so far
    std::exception_ptr error = {};        // if there is no memory to align them

    bool done() const { return error || aligned == to_align.size(); }
  };

  static int64_t tokens_of(const Waiting& w);
  void admit();
  void admit(std::vector<Waiting> sentences);
  void admit_one_by_one(std::vector<Waiting> sentences);
  Waiting take_next();
  void put_back(Waiting sentence);
  std::vector<int32_t> vocabulary_of(const Waiting& waiting) const;
  void predict();
  void extend();
  void give_up_largest();
  std::vector<StepRow> rows();
  std::vector<RowRequest> requests() const;
  void pick(const Predictions& predictions, std::span<const RowRequest> requests);
  PredictionRequest request_of(std::span<const RowRequest> requests, Picker::Enough enough) const;
  bool has_enough(const Predictions& predictions, std::span<const RowRequest> requests, int64_t best) const;
  bool admits() const;
  std::optional<AheadRequest> ahead_request(std::span<const RowRequest> requests) const;
  void report_beginnings();
  Ended ended(Active sentence) const;
  std::vector<Ended> take_finished();
  struct ToAlign {  // a hypothesis
    Ended* sentence;
    size_t rank;
  };
  std::vector<ToAlign> next_batch_to_align();
  void align_next_batch();
  void align(std::span<const ToAlign> hypotheses);
  void forget(const Active& sentence);
  void occupy_device();

  Ensemble models_;
  const int64_t tokens_;
  std::deque<Waiting> waiting_;
  std::vector<Active> active_;
  std::vector<Ended> ended_;                       // and not aligned yet
  std::vector<std::vector<Continuation>> picked_;  // for each row of this step
  int64_t waiting_tokens_ = 0, active_tokens_ = 0;
  bool full_ = false;  // there was no memory for the first waiting sentence beside the active ones
  Ticket last_ticket_ = 0;
};

/// Translates sentences (pieces without </s>, one per line) and returns the n best of each.
std::vector<std::vector<Hypothesis>> beam_search(Context& cx, Model& model, const SearchOptions& options,
                                                 int64_t tokens, std::span<const std::vector<int32_t>> sources,
                                                 const Shortlist* shortlist = nullptr);

}  // namespace dragoman
