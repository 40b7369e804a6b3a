#pragma once
#include <memory>
#include <span>
#include <vector>

#include "base/philox.h"
#include "decode/ensemble.h"
#include "decode/options.h"

namespace dragoman {

/// A possible next piece of a hypothesis.
struct Continuation {
  int32_t id;
  float log_prob;
  std::vector<float> by_model;  // Predictions::by_model
};

/// What a hypothesis may continue with, and how often.
struct Request {
  static constexpr int32_t free = -1;
  int32_t forced = free;           // the only piece that may follow
  std::vector<int32_t> forbidden;  // else all but these, in rising order
  int positions;                   // in the beam for the continuations of all hypotheses of the sentence
  int share;                       // of these places, when each hypothesis has as many as the others
  PhiloxCounter draw;              // of the first random draw; the next ones count its last number up
};

/// How a search goes on: from hypotheses to their next pieces. One rule for beam search, one for sampling; what ends a
/// hypothesis and what it is worth is Beam's affair.
class Picker {
 public:
  virtual ~Picker() = default;
  /// What `pick` has to know to answer the requests.
  PredictionRequest request(std::span<const Request> requests) const;
  /// The continuations of each row, as request by request asks for them.
  std::vector<std::vector<Continuation>> pick(const Predictions& predictions, std::span<const Request> requests) const;

 private:
  virtual int64_t most_probable(std::span<const Request> requests) const = 0;
  virtual bool looks_at_all() const = 0;  // pieces, not the most probable alone
  virtual std::vector<int32_t> choose(const Predictions& predictions, int64_t row, const Request& request) const = 0;
};

/// The rule that the options ask for; they outlive it.
std::unique_ptr<const Picker> make_picker(const SearchOptions& options);

/// Random draws from what the model predicts (decode/sampling.cpp).
std::unique_ptr<const Picker> make_sampler(const SearchOptions& options);

/// The first `count` of `ids` that are not among `forbidden`, which is in rising order.
std::vector<int32_t> first_allowed(std::span<const int32_t> ids, std::span<const int32_t> forbidden, size_t count);

/// The most pieces that one of the requests forbids.
int64_t most_forbidden(std::span<const Request> requests);

}  // namespace dragoman
