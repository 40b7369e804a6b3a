#pragma once
#include <deque>
#include <functional>
#include <memory>

#include "autodiff/context.h"
#include "decode/beam.h"
#include "model/model.h"

namespace dragoman {

/// Beam search over many sentences at once. It knows no model, only Decoding: rows of logits for handles. Sentences
/// that end leave at once and waiting ones take their place (continuous batching), in the order they were added.
/// What is found for a sentence depends on that sentence and the options alone, to the bit.
class Search {
 public:
  using Found = std::function<void(std::vector<Hypothesis> best)>;  // n_best of them, best first

  /// `words` bounds source pieces (with </s>) times beam in the machine at once; a longer sentence runs alone. The
  /// context (float32) and the options outlive the search.
  Search(Context& cx, std::unique_ptr<Decoding> decoding, const SearchOptions& options, int64_t words);

  /// Puts a sentence (pieces without </s>) in the queue. `found` is called by the step in which its search ends.
  void add(std::vector<int32_t> source, Found found);
  bool idle() const { return active_.empty() && waiting_.empty(); }
  /// Whether the queue is short: then more sentences would help to fill the machine.
  bool wants_more() const { return waiting_words_ < words_; }
  /// Takes in waiting sentences where there is room, and continues all hypotheses by one piece.
  void step();

 private:
  struct Waiting {
    std::vector<int32_t> source;  // with </s>
    Found found;
  };
  struct Sentence {
    int handle;     // of Decoding
    int64_t words;  // its part of the budget
    int first_row;  // of its live hypotheses in the last step
    Beam beam;
    Found found;
  };

  int64_t words_of(const Waiting& w) const { return int64_t(w.source.size()) * options_.beam_size; }
  void admit();
  std::vector<StepRow> rows();
  void advance(const Tensor& logits);
  void dismiss_finished();

  Context& cx_;
  const std::unique_ptr<Decoding> decoding_;
  const SearchOptions& options_;
  const int64_t words_;
  std::deque<Waiting> waiting_;
  std::vector<Sentence> active_;
  int64_t waiting_words_ = 0, active_words_ = 0;
};

/// Translates sentences (pieces without </s>) and gives the n best of each.
std::vector<std::vector<Hypothesis>> beam_search(Context& cx, Model& model, const SearchOptions& options, int64_t words,
                                                 std::span<const std::vector<int32_t>> sources);

}  // namespace dragoman
