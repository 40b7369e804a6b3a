#pragma once
#include <functional>
#include <memory>
#include <span>

#include "model/batch.h"
#include "model/config.h"
#include "nn/baseline.h"
#include "nn/parameters.h"
#include "ops/loss.h"

namespace dragoman {

/// A model computes NaN: the fault of its weights or of the precision, not of the input.
class DamagedModel : public Error {
 public:
  using Error::Error;
};

/// One hypothesis to continue in a decoding step.
struct StepRow {
  int sentence;   // its handle (Decoding::add)
  int parent;     // its row in the last step that was kept; -1: the sentence's first step
  int32_t token;  // its last token; not read in the first step
  bool operator==(const StepRow&) const = default;
};

/// The tokens of a hypothesis, in order: for each, the row of its step that predicted it, counted from its sentence's
/// first.
struct DecodedTokens {
  int sentence;
  std::vector<int32_t> rows;
};

/// Integers of a step whose rows the device chooses (RowKernels::NextRows).
struct AheadTables {
  Tensor ids, table;    // of the step, to be filled in
  Tensor past, length;  // of the rows before it, and of those after
};

/// Sentences that are decoded together. Cached keys and states are private to the model: the search sees handles and
/// rows. Sentences may be added and removed between steps. The logits of a row depend on its sentence and its tokens
/// only, to the bit, whatever else is being decoded.
class Decoding {
 public:
  virtual ~Decoding() = default;
  /// Encodes more sentences, whose handles are first, first + 1, …; `width` bounds the rows of each in any step. If it
  /// throws, remove() undoes what was begun.
  virtual void add(int first, const PackedIds& source, int width) = 0;
  /// Restricts logits from now on to these target pieces, in ascending order; none: all pieces.
  virtual void restrict(std::span<const int32_t> pieces) = 0;
  /// Next-token logits (R,V) of each row, or log-probabilities if the model copies; V: all pieces or those of
  /// restrict(). The rows of a sentence are contiguous. Read the logits before the next step, which may overwrite them.
  virtual Tensor step(std::span<const StepRow> rows) = 0;
  /// Computes the step after the last one before the host knows its rows: it has as many rows of each sentence as the
  /// last step, which were `rows`. `choose` lets the device choose their tokens and parents; it is called as soon as
  /// the tables are there, and before the step is computed. Returns the logits, empty if this cannot be done now.
  virtual Tensor step_ahead([[maybe_unused]] std::span<const StepRow> rows,
                            [[maybe_unused]] const std::function<void(const AheadTables&)>& choose) {
    return {};
  }
  /// Accepts that step as the last one, with these rows: of each sentence, the first ones of those that the device
  /// chose.
  virtual void accept_ahead([[maybe_unused]] std::span<const StepRow> rows) {}
  /// Makes the rows of the last step parents of the next one. A step that is not kept, or that throws, may be repeated,
  /// even without some of its sentences.
  virtual void keep() = 0;
  virtual void remove(int sentence) = 0;  // ignores unknown handles

  /// Makes all sentences that are added from now on keep what show_attention() needs: the queries of one layer, a row
  /// of the width of the model for each token. For models with cross-attention.
  virtual void keep_attention() { fail("this model shows no attention"); }
  /// Shows the observer the cross-attention that alignments are taken from (AlignmentConfig), as in a full pass over
  /// these tokens and their sources: of hypotheses of sentences that were not removed, each with at least one token.
  virtual void show_attention([[maybe_unused]] const AttentionObserver& observer,
                              [[maybe_unused]] std::span<const DecodedTokens> hypotheses) {
    fail("this model shows no attention");
  }
};

/// A sequence-to-sequence model, as training, scoring and decoding use it.
class Model {
 public:
  virtual ~Model() = default;
  virtual const ModelConfig& config() const = 0;
  virtual Parameters& parameters() = 0;

  /// Losses of all target tokens of the batch, end of sentence included; with a tape in the context, ready for
  /// Tape::backward (gradients of their sum).
  virtual TokenLoss loss(Context& cx, const Batch& batch, double label_smoothing) = 0;
  /// Logits (N,V) of all target tokens at once, or log-probabilities if the model copies; equal to those of decoding
  /// steps.
  virtual Tensor logits(Context& cx, const Batch& batch) = 0;
  /// The context must outlive the decoding; it has no tape.
  virtual std::unique_ptr<Decoding> decode(Context& cx) = 0;

  /// Training updates the baseline of every model after each update and stores it.
  Baseline& baseline() { return baseline_; }
  /// Whether gradients depend on the baseline, so that an update must wait for the loss of the previous one.
  virtual bool learns_from_baseline() const { return false; }

 private:
  Baseline baseline_;
};

/// A model of type `config.type` with uninitialised weights; with `gradients`, for training, in flat buffers, except
/// those that are not `trainable` (Parameters::Flat).
std::unique_ptr<Model> make_model(const ModelConfig& config, const Backend& backend, Arena& arena, DType dtype,
                                  bool gradients, const Trainable& trainable = {});
/// A model for decoding with packed or rounded weights: those that only products use have no memory of their own.
std::unique_ptr<Model> make_packed_model(const ModelConfig& config, const Backend& backend, Arena& arena, DType dtype);

}  // namespace dragoman
