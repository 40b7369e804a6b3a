#pragma once
#include <memory>
#include <span>
#include <vector>

#include "decode/continuation.h"
#include "decode/ensemble.h"
#include "dragoman/search_options.h"

namespace dragoman {

/// Chooses the continuations of hypotheses, for beam search or for sampling. Beam decides when hypotheses end and
/// computes their scores.
class Picker {
 public:
  virtual ~Picker() = default;
  /// What `pick` needs to know for these requests: `usually`, as few pieces of a long list of forbidden ones are among
  /// the best, or `surely`, however many are.
  enum class Enough { usually, surely };
  PredictionRequest request(std::span<const RowRequest> requests, Enough enough) const;
  /// Whether the `best` pieces of a row that were requested are enough for `pick`.
  bool has_enough(const Predictions& predictions, int64_t row, const RowRequest& request, int64_t best) const;
  /// Whether it picks the most probable pieces.
  virtual bool picks_best() const { return false; }
  /// The continuations of a row, written over `picked`, whose memory is reused.
  void pick(const Predictions& predictions, int64_t row, const RowRequest& request,
            std::vector<Continuation>& picked) const;

 private:
  virtual int64_t needed(const RowRequest& request) const = 0;  // of the best allowed pieces
  virtual bool needs_all_scores() const = 0;                    // whether choose() reads the scores of all pieces
  virtual std::vector<int32_t> choose(const Predictions& predictions, int64_t row, const RowRequest& request) const = 0;
};

/// The picker for these options, which must outlive it.
std::unique_ptr<const Picker> make_picker(const SearchOptions& options);

/// Samples from the model's distribution (decode/sampling.cpp).
std::unique_ptr<const Picker> make_sampler(const SearchOptions& options);

/// The `count` most probable pieces that the request allows, best first. Fewer if Predictions::best, or the list of
/// allowed pieces, has fewer.
std::vector<int32_t> best_allowed(const Predictions& predictions, int64_t row, const Allowed& allowed, size_t count);

}  // namespace dragoman
