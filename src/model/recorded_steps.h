#pragma once
#include <compare>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "autodiff/context.h"
#include "backend/step_keys.h"

namespace dragoman {

/// What a Transformer's decoding step knows of its rows: integers that the host makes.
struct StepTables {
  Tensor ids, positions;  // (R) (R,2)
  Tensor cached;          // (R): cache rows that take this step's keys and values
  StepKeys past;          // through a table (R,T)
  StepKeys source;        // from a row on, with positions
  int64_t longest_past = 0, longest_source = 0;
};

/// Decoding steps on a device that records kernels (backend/recorder.h): a step is one copy of its tables and one run
/// of a recording. A recording fits steps of one size, so sizes are rounded up: rows that nobody asked for have one key
/// each, do what the others do and write to a scrap row of the cache. The first step of a size runs as it is called,
/// so that libraries choose and load what they need, the second is recorded. Temporaries lie in an arena of steps
/// alone, which all recordings use by turns.
class RecordedSteps {
 public:
  /// Computes the logits of a step (R,V); the host decides nothing in between. All that it writes but those, and the
  /// rows of caches, is temporary.
  using Compute = std::function<Tensor(Context& cx, const StepTables& tables)>;

  /// The context's backend has a recorder and outlives this. `scrap`: a row of the cache that nobody reads.
  RecordedSteps(const Context& cx, int32_t scrap);
  RecordedSteps(const RecordedSteps&) = delete;

  /// Throws OutOfMemory or RecordingFailed; the step may be computed as it is called then.
  /// What `compute` gives for these rows, to be read before the next step. `memory`: what it reads and writes that may
  /// move between steps (caches, tables of positions). When it has, steps are recorded anew.
  Tensor run(const StepTables& tables, std::span<const Tensor> memory, const Compute& compute);

 private:
  struct Size {
    int64_t rows, past, source;  // the last two: of the longest
    auto operator<=>(const Size&) const = default;
  };
  struct Step {
    explicit Step(const Size& size);
    Step(const Step&) = delete;
    void take(const StepTables& exact, int32_t scrap);

    std::vector<int32_t> values;  // of all tables, one after the other
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
