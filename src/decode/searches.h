#pragma once
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "autodiff/context.h"
#include "decode/beam_search.h"

namespace dragoman {

class Model;

/// One of the models that translate together.
struct TranslatingModel {
  Context* cx;  // float32, no tape; decoding is faster with packed weights
  Model* model;
  double weight = 1;
  int longest_source = 0;                       // pieces of the longest training sentence; 0: unknown
  EnsembleMean mean = EnsembleMean::automatic;  // the first model's counts
};

/// The fastest number of searches: one per thread if kernels may run concurrently. One on a GPU, and when profiling,
/// because the times of overlapping kernels would not add up.
int searches_on(const Backend& backend);

/// Concurrent searches that share only the models' weights. Each runs on its own thread with its own memory, so threads
/// synchronise once every few steps instead of in every kernel. When few searches have work, they take turns and their
/// kernels use all threads. The result for a sentence does not depend on the number of searches.
class Searches {
 public:
  static constexpr int steps_at_once = 16;

  /// Parameters as for Search; `tokens` is the budget of each search. A single search uses the models' contexts, unless
  /// `memory` is given and the backend is the CPU's. Several searches have their own memory, at most `memory` bytes
  /// each (0: a share of the machine's), and need a backend that threads may share: the CPU's, without profiling.
  Searches(int count, std::span<const TranslatingModel> models, int64_t tokens, int64_t memory = 0);

  /// The search with the least work. A search calls its callbacks sequentially, but two searches may call theirs from
  /// two threads concurrently: callbacks that share state must be added to the same search.
  Search& next();
  bool wants_more(int times = 1) { return next().wants_more(times); }  // Search::wants_more
  bool idle() const;
  /// Number of sentences that are being translated.
  int64_t active() const;
  /// Advances all searches by one step, or on a CPU by up to `most` steps if more sentences are queued than fit:
  /// threads then synchronise less often, and results come later.
  void step(int most = steps_at_once);

 private:
  struct Worker {
    Worker(std::span<const TranslatingModel> models, int64_t memory, int64_t tokens);
    struct GiveBack {
      void operator()(Arena* arena) const;  // tables of positions, which models keep, may be in the arena
    };
    const std::unique_ptr<Arena, GiveBack> arena;  // null: uses the models' arena
    std::deque<Context> contexts;
    Search search;
  };

  const bool on_device_;
  std::deque<Worker> workers_;
};

}  // namespace dragoman
