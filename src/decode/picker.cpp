#include "decode/picker.h"

#include <algorithm>
#include <iterator>

namespace dragoman {
namespace {

// More than this many forbidden pieces are hardly ever among the best.
constexpr int64_t usually_forbidden = 8;

// Beam search takes the best continuations of all hypotheses together, so a single hypothesis may fill all positions.
class BestPieces : public Picker {
  int64_t needed(const RowRequest& request) const override { return request.positions; }
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

PredictionRequest Picker::request(std::span<const RowRequest> requests, Enough enough) const {
  const auto lists = [](const RowRequest& r) { return r.allowed->only || !r.required.empty(); };
  PredictionRequest wanted{.best = 1, .all = needs_all_scores() || std::ranges::any_of(requests, lists)};
  for (const RowRequest& r : requests) {
    const int64_t forbidden = needs_all_scores() || r.allowed->only ? 0 : std::ssize(r.allowed->ids);
    wanted.best = std::max(
        wanted.best, needed(r) + (enough == Enough::usually ? std::min(forbidden, usually_forbidden) : forbidden));
  }
  return wanted;
}

bool Picker::has_enough(const Predictions& predictions, int64_t row, const RowRequest& request, int64_t best) const {
  const Allowed& allowed = *request.allowed;
  if (needs_all_scores() || allowed.only || std::ssize(allowed.ids) <= usually_forbidden) return true;
  const auto found = predictions.best(row);
  if (std::ssize(found) < best) return true;  // all there are
  return std::ranges::count_if(found, [&](int32_t id) { return allowed.contains(id); }) >= needed(request);
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

}  // namespace dragoman
