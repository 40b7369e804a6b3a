#pragma once
#include <memory>
#include <span>
#include <vector>

#include "base/philox.h"
#include "decode/ensemble.h"
#include "decode/options.h"

namespace dragoman {

/// A possible next token of a hypothesis.
struct Continuation {
  int32_t id;
  float log_prob;
  std::vector<float> by_model;  // Predictions::by_model
};

/// Which continuations a hypothesis may have, and how many.
struct Request {
  static constexpr int32_t free = -1;
  int32_t forced = free;           // the only piece that may follow
  std::vector<int32_t> forbidden;  // otherwise all but these, in ascending order
  int positions;                   // left in the beam, for the continuations of all hypotheses of the sentence
  int share;                       // this hypothesis's equal share of the positions
  PhiloxCounter draw;              // of the first random draw; later ones increment its last number
};

/// Chooses the continuations of hypotheses, for beam search or for sampling. Beam decides when a hypothesis ends and
/// what it scores.
class Picker {
 public:
  virtual ~Picker() = default;
  /// What `pick` needs to know to answer the requests.
  PredictionRequest request(std::span<const Request> requests) const;
  /// The continuations of each row, one row per request.
  std::vector<std::vector<Continuation>> pick(const Predictions& predictions, std::span<const Request> requests) const;

 private:
  virtual int64_t most_probable(std::span<const Request> requests) const = 0;
  virtual bool looks_at_all() const = 0;  // pieces, not only the most probable
  virtual std::vector<int32_t> choose(const Predictions& predictions, int64_t row, const Request& request) const = 0;
};

/// The picker for these options, which must outlive it.
std::unique_ptr<const Picker> make_picker(const SearchOptions& options);

/// Samples from the model's distribution (decode/sampling.cpp).
std::unique_ptr<const Picker> make_sampler(const SearchOptions& options);

/// The first `count` of `ids` that are not in `forbidden`, which is in ascending order.
std::vector<int32_t> first_allowed(std::span<const int32_t> ids, std::span<const int32_t> forbidden, size_t count);

/// The largest number of pieces that one request forbids.
int64_t most_forbidden(std::span<const Request> requests);

}  // namespace dragoman
