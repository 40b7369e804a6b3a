#pragma once
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "decode/beam_search.h"

namespace dragoman {

/// One of the models that translate together.
struct TranslatingModel {
  Context* cx;  // float32, no tape; with the model's weights packed decoding is faster
  Model* model;
  double weight = 1;
  int longest_source = 0;  // pieces of the longest sentence it was trained on; 0: not known
};

/// How many searches are fastest there: one for each thread, where kernels may run side by side. A GPU is one search's,
/// and times of kernels that overlap would not add up.
int searches_on(const Backend& backend);

/// Searches side by side, which share the models' weights and nothing else: each goes on in a thread and in memory of
/// its own, so that threads wait for each other once in some steps and not in every kernel. Where few of them have
/// work, they take turns, with all threads for their kernels. What is found for a sentence does not depend on their
/// number.
class Searches {
 public:
  /// As of Search; `words` is the budget of each. One search computes where the models' contexts say; of several
  /// each has memory of its own, so their backend must be one that threads may share: the CPU's, not profiled.
  Searches(int count, std::span<const TranslatingModel> models, const SearchOptions& options, int64_t tokens,
           const Shortlist* shortlist, Search::Wanted wanted);

  /// The one with the least to do. What one search has found comes one after the other, what two have found may come in
  /// two threads at once: what shares state goes to one.
  Search& next();
  bool wants_more() { return next().wants_more(); }
  /// Takes all searches a step further; some steps, where more sentences wait than fit.
  void step();

 private:
  struct Worker {
    Worker(std::span<const TranslatingModel> models, int64_t memory, const SearchOptions& options, int64_t tokens,
           const Shortlist* shortlist, Search::Wanted wanted);
    const std::unique_ptr<Arena> arena;  // null: the models'
    std::deque<Context> contexts;
    Search search;
  };

  std::deque<Worker> workers_;
};

}  // namespace dragoman
