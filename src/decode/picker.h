#pragma once
#include <memory>
#include <span>
#include <vector>

#include "decode/continuation.h"
#include "decode/ensemble.h"
#include "decode/options.h"

namespace dragoman {

/// Chooses the continuations of hypotheses, for beam search or for sampling. Beam decides when a hypothesis ends and
/// what it scores.
class Picker {
 public:
  virtual ~Picker() = default;
  /// What `pick` needs to know to answer the requests.
  PredictionRequest request(std::span<const RowRequest> requests) const;
  /// The continuations of a row.
  std::vector<Continuation> pick(const Predictions& predictions, int64_t row, const RowRequest& request) const;

 private:
  virtual int64_t most_probable(std::span<const RowRequest> requests) const = 0;
  virtual bool looks_at_all() const = 0;  // pieces, not only the most probable
  virtual std::vector<int32_t> choose(const Predictions& predictions, int64_t row, const RowRequest& request) const = 0;
};

/// The picker for these options, which must outlive it.
std::unique_ptr<const Picker> make_picker(const SearchOptions& options);

/// Samples from the model's distribution (decode/sampling.cpp).
std::unique_ptr<const Picker> make_sampler(const SearchOptions& options);

/// The `count` most probable pieces that the request allows, best first; fewer if there are no more among
/// Predictions::best or among the only ones that it allows.
std::vector<int32_t> best_allowed(const Predictions& predictions, int64_t row, const Allowed& allowed, size_t count);

/// The largest number of pieces that one request forbids.
int64_t most_forbidden(std::span<const RowRequest> requests);

}  // namespace dragoman
