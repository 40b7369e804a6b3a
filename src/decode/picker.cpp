#include "decode/picker.h"

#include <algorithm>

#include "base/threads.h"

namespace dragoman {
namespace {

// Beam search takes the best continuations of all hypotheses, so any single hypothesis may have to fill the whole beam.
class BestPieces : public Picker {
  int64_t most_probable(std::span<const Request> requests) const override {
    const auto positions = [](const Request& r) { return r.positions; };
    return std::ranges::max(requests, {}, positions).positions + most_forbidden(requests);
  }
  bool looks_at_all() const override { return false; }

  std::vector<int32_t> choose(const Predictions& predictions, int64_t row, const Request& request) const override {
    return first_allowed(predictions.best(row), request.forbidden, size_t(request.positions));
  }
};

}  // namespace

std::unique_ptr<const Picker> make_picker(const SearchOptions& options) {
  if (options.sampling != Sampling::none) return make_sampler(options);
  return std::make_unique<BestPieces>();
}

PredictionRequest Picker::request(std::span<const Request> requests) const {
  const auto forced = [](const Request& r) { return r.forced != Request::free; };
  return {.best = most_probable(requests), .all = looks_at_all() || std::ranges::any_of(requests, forced)};
}

std::vector<std::vector<Continuation>> Picker::pick(const Predictions& predictions,
                                                    std::span<const Request> requests) const {
  std::vector<std::vector<Continuation>> picked(requests.size());
  parallel_items(int64_t(requests.size()), [&](int64_t row, int) {
    const Request& request = requests[row];
    const auto ids = request.forced == Request::free ? choose(predictions, row, request) : std::vector{request.forced};
    for (const int32_t id : ids)
      picked[row].push_back({id, predictions.log_prob(row, id), predictions.by_model(row, id)});
  });
  return picked;
}

std::vector<int32_t> first_allowed(std::span<const int32_t> ids, std::span<const int32_t> forbidden, size_t count) {
  std::vector<int32_t> allowed;
  for (size_t i = 0; i < ids.size() && allowed.size() < count; ++i)
    if (!std::ranges::binary_search(forbidden, ids[i])) allowed.push_back(ids[i]);
  return allowed;
}

int64_t most_forbidden(std::span<const Request> requests) {
  size_t most = 0;
  for (const Request& r : requests) most = std::max(most, r.forbidden.size());
  return int64_t(most);
}

}  // namespace dragoman
