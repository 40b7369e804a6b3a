#include "decode/picker.h"

#include <algorithm>
#include <iterator>

namespace dragoman {
namespace {

// Beam search takes the best continuations of all hypotheses together, so a single hypothesis may fill all positions.
class BestPieces : public Picker {
  int64_t best_count(std::span<const RowRequest> requests) const override {
    const auto positions = [](const RowRequest& r) { return r.positions; };
    return std::ranges::max(requests, {}, positions).positions + most_forbidden(requests);
  }
  bool needs_all_scores() const override { return false; }
  bool picks_best() const override { return true; }

  std::vector<int32_t> choose(const Predictions& predictions, int64_t row, const RowRequest& request) const override {
    return best_allowed(predictions, row, *request.allowed, size_t(request.positions));
  }
};

}  // namespace

std::unique_ptr<const Picker> make_picker(const SearchOptions& options) {
  if (options.sampling != Sampling::none) return make_sampler(options);
  return std::make_unique<BestPieces>();
}

PredictionRequest Picker::request(std::span<const RowRequest> requests) const {
  const auto lists = [](const RowRequest& r) { return r.allowed->only || !r.required.empty(); };
  return {.best = best_count(requests), .all = needs_all_scores() || std::ranges::any_of(requests, lists)};
}

void Picker::pick(const Predictions& predictions, int64_t row, const RowRequest& request,
                  std::vector<Continuation>& picked) const {
  const Allowed& allowed = *request.allowed;
  const bool forced = allowed.only && allowed.ids.size() == 1;
  picked.clear();
  size_t next = 0;  // index among the best pieces: most pickers choose in their order
  for (const int32_t id : forced ? best_allowed(predictions, row, allowed, 1) : choose(predictions, row, request))
    picked.push_back({id, predictions.log_prob(row, id, next), predictions.by_model(row, id)});
  for (const int32_t id : request.required)
    if (std::ranges::find(picked, id, &Continuation::id) == picked.end() && predictions.allows(row, id))
      picked.push_back({id, predictions.log_prob(row, id, next), predictions.by_model(row, id)});
}

std::vector<int32_t> best_allowed(const Predictions& predictions, int64_t row, const Allowed& allowed, size_t count) {
  std::vector<int32_t> ids;
  if (!allowed.only) {
    ids.reserve(count);
    for (const int32_t id : predictions.best(row))
      if (ids.size() < count && allowed.contains(id)) ids.push_back(id);
    return ids;
  }
  std::ranges::copy_if(allowed.ids, std::back_inserter(ids), [&](int32_t id) { return predictions.allows(row, id); });
  const auto better = [&](int32_t a, int32_t b) { return predictions.score(row, a) > predictions.score(row, b); };
  std::ranges::stable_sort(ids, better);  // equal scores: the lower id first, as in best()
  if (ids.size() > count) ids.resize(count);
  return ids;
}

int64_t most_forbidden(std::span<const RowRequest> requests) {
  size_t most = 0;
  for (const RowRequest& r : requests)
    if (!r.allowed->only) most = std::max(most, r.allowed->ids.size());
  return int64_t(most);
}

}  // namespace dragoman
