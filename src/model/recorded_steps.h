#pragma once
#include <compare>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "autodiff/context.h"
#include "backend/step_keys.h"

namespace dragoman {

/// The integers that the host computes for the rows of a Transformer's decoding step.
struct StepTables {
  Tensor ids, positions;  // (R) (R,2)
  Tensor cached;          // (R): cache rows to write this step's keys and values to
  StepKeys past;          // through a table (R,T)
  StepKeys source;        // contiguous rows, with positions
  int64_t longest_past = 0, longest_source = 0;
};

/// Decoding steps on a device that records kernels (backend/recorder.h): a step is one copy of its tables and one run
/// of a recording. A recording fits steps of one size, so sizes are rounded up: padding rows have one key each, are
/// computed like the others and write to a scrap row of the cache. The first step of a size runs without recording, so
/// that libraries choose and load their kernels; the second is recorded. Temporaries lie in an arena for steps alone,
/// which all recordings share.
class RecordedSteps {
 public:
  /// Computes the logits of a step (R,V); the host decides nothing in between. Everything else that it writes, except
  /// cache rows, is temporary.
  using Compute = std::function<Tensor(Context& cx, const StepTables& tables)>;
  /// Changes the tables on the device before the step, whose rows come first in them.
  using Prepare = std::function<void(const StepTables& tables)>;

  /// The context's backend must have a recorder and outlive this. `scrap`: a row of the cache that is never read.
  RecordedSteps(const Context& cx, int32_t scrap);
  RecordedSteps(const RecordedSteps&) = delete;

  /// Returns the result of `compute` for these rows, to be read before the next step. `memory`: the tensors that it
  /// reads or writes and that may move between steps (caches, tables of positions); if one has moved, steps are
  /// recorded again. Throws OutOfMemory or RecordingFailed; the caller may then compute the step without recording.
  Tensor run(const StepTables& tables, std::span<const Tensor> memory, const Compute& compute,
             const Prepare& prepare = {});

 private:
  struct Size {
    int64_t rows, past, source;  // the last two: of the longest
    auto operator<=>(const Size&) const = default;
  };
  struct Step {
    explicit Step(const Size& size);
    Step(const Step&) = delete;
    void take(const StepTables& exact, int32_t scrap);

    std::vector<int32_t> values;  // of all tables, end to end
    Mirror mirror;                // of the values
    StepTables tables;            // of these sizes
    bool met = false;
    std::shared_ptr<void> recording;  // null: none yet
    Tensor logits;                    // of the recording
  };
  struct Address {
    const void* data;
    Shape shape;
    bool operator==(const Address&) const = default;
  };

  static Size size_of(const StepTables& tables);
  Step& step_of(const Size& size);
  void forget_if_moved(std::span<const Tensor> memory);
  void record(Step& step, const Compute& compute);

  Arena arena_;
  Context cx_;
  const int32_t scrap_;
  std::vector<Address> memory_;  // of the last step
  std::map<Size, Step> steps_;
};

}  // namespace dragoman
