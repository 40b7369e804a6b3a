#pragma once
#include <memory>
#include <span>

#include "model/batch.h"
#include "model/config.h"
#include "nn/baseline.h"
#include "nn/parameters.h"
#include "ops/loss.h"

namespace dragoman {

/// One hypothesis to continue in a decoding step.
struct StepRow {
  int sentence;   // handle that Decoding::add gave
  int parent;     // its row in the step before; -1: the sentence's first step
  int32_t token;  // its last token; not read in the first step
};

/// Sentences being decoded together. What a model remembers of them (cached keys, states) is its own affair: the
/// search sees handles and rows. Sentences come and go between steps. The logits of a row depend on its sentence and
/// its tokens only, to the bit, whatever else is being decoded.
class Decoding {
 public:
  virtual ~Decoding() = default;
  /// Encodes more sentences, whose handles are first, first + 1, …; `width` bounds the rows of each in any step. If it
  /// throws, remove() takes back what it has begun.
  virtual void add(int first, const PackedIds& source, int width) = 0;
  /// Of which target pieces the logits are from now on: of these, in rising order, or of all when there are none.
  virtual void restrict(std::span<const int32_t> pieces) = 0;
  /// Next-token logits (R,V) of each row, log-probabilities where a model copies, V all pieces or those of restrict().
  /// Rows of a sentence stand together. The logits are to be read before the next step, which may take their place.
  virtual Tensor step(std::span<const StepRow> rows) = 0;
  virtual void remove(int sentence) = 0;  // does nothing for a handle that it does not know
};

/// A sequence-to-sequence model: what training, scoring and decoding need to know of one.
class Model {
 public:
  virtual ~Model() = default;
  virtual const ModelConfig& config() const = 0;
  virtual Parameters& parameters() = 0;

  /// Losses of all target tokens of the batch, end of sentence included; with a tape in the context, ready for
  /// Tape::backward (gradients of their sum).
  virtual TokenLoss loss(Context& cx, const Batch& batch, double label_smoothing) = 0;
  /// Logits (N,V) of all target tokens at once, log-probabilities where a model copies, for comparison with the steps
  /// of decoding.
  virtual Tensor logits(Context& cx, const Batch& batch) = 0;
  /// The context outlives the decoding; it has no tape.
  virtual std::unique_ptr<Decoding> decode(Context& cx) = 0;

  /// Training updates the baseline of every model after each update and stores it.
  Baseline& baseline() { return baseline_; }
  /// Whether gradients depend on the baseline, so that an update has to wait for the loss of the one before.
  virtual bool learns_from_baseline() const { return false; }

 private:
  Baseline baseline_;
};

/// The model that `config.type` names, its weights uninitialised; with `gradients`, for training, in flat buffers
/// (Parameters).
std::unique_ptr<Model> make_model(const ModelConfig& config, const Backend& backend, Arena& arena, DType dtype,
                                  bool gradients);

}  // namespace dragoman
