#pragma once
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "decode/ensemble.h"
#include "model/model.h"

namespace dragoman {

/// A step of one model that has been queued. If it was queued ahead, it may have rows that the search does not have.
class QueuedStep {
 public:
  /// Queues the search for the `best` pieces of each row of the logits (Q,V), or for all V.
  QueuedStep(const Context& cx, const Tensor& logits, int64_t best, bool with_lse);

  /// Whether read() returns as much as these would have requested.
  bool covers(int64_t best, bool with_lse) const {
    return (best <= best_ || best_ == pieces_) && with_lse <= with_lse_;
  }
  /// Queues the same search in the logits of the next step.
  std::unique_ptr<QueuedStep> following(const Tensor& logits) const {
    return std::make_unique<QueuedStep>(cx_, logits, best_, with_lse_);
  }

  /// The rows that the device chose, known when the step before has been read.
  void expect(std::vector<StepRow> rows) { expected_ = std::move(rows); }
  /// Whether `rows` are the rows that this step was queued for: of each sentence, a prefix of the expected ones.
  bool matches(std::span<const StepRow> rows);

  /// Lets the device choose the rows of the next step.
  void choose(const AheadRequest& request, const AheadTables& tables);
  /// Begins to send the results to the host, once, after choose().
  void send() { pending_ = bytes_.fetch(); }
  /// Waits for them. Returns the best pieces of the search's rows, and, if the device has chosen, the rows of the next
  /// step, which continue `rows`.
  TopPieces read(std::span<const StepRow> rows, std::vector<StepRow>* chosen);

 private:
  struct Parts {
    TopPieces top;
    Tensor tokens, parents;  // (Q) int32: RowKernels::NextRows
  };
  Parts parts_of(const Tensor& bytes) const;

  const Context& cx_;
  const int64_t rows_, pieces_, best_;
  const DType type_;
  const bool with_lse_;
  Tensor bytes_;  // of all parts
  Parts on_device_;
  std::vector<StepRow> expected_;
  std::vector<int64_t> row_of_;  // of each row of the search among the step's; empty: the same
  std::function<Tensor()> pending_;
};

}  // namespace dragoman
