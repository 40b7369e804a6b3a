#include <algorithm>
#include <cmath>
#include <functional>

#include "decode/picker.h"

namespace dragoman {
namespace {

struct Weighed {
  double weight;  // probability up to a factor
  int32_t id;
  bool operator<(const Weighed& other) const { return weight != other.weight ? weight < other.weight : id > other.id; }
};

double sum(std::span<const Weighed> pieces) {
  double sum = 0;
  for (const Weighed& w : pieces) sum += w.weight;
  return sum;
}

// The fewest pieces, most probable first and at least one, that together have `mass` of the total probability.
std::vector<Weighed> nucleus(std::vector<Weighed> pieces, double mass) {
  const double wanted = mass * sum(pieces);
  std::make_heap(pieces.begin(), pieces.end());
  double reached = 0;
  auto end = pieces.end();
  while (end != pieces.begin() && (end == pieces.end() || reached < wanted)) {
    std::pop_heap(pieces.begin(), end);
    reached += (--end)->weight;
  }
  return {std::make_reverse_iterator(pieces.end()), std::make_reverse_iterator(end)};
}

// In [0, 1).
double uniform(PhiloxCounter counter, uint64_t seed) {
  const PhiloxCounter bits = philox(counter, {uint32_t(seed), uint32_t(seed >> 32)});
  return double((uint64_t{bits[0]} << 32 | bits[1]) >> 11) * 0x1p-53;
}

// If rounding leaves the sum slightly below `at`, the last piece is drawn.
int32_t piece_at(std::span<const Weighed> pieces, double at) {
  for (const Weighed& w : pieces)
    if ((at -= w.weight) < 0) return w.id;
  return pieces.back().id;
}

/// Samples each hypothesis token by token. A draw is a function of (seed, line, segment, step, index in the beam), so
/// the translation of a line does not depend on the other lines of its batch.
class Sampler : public Picker {
 public:
  explicit Sampler(const SearchOptions& options) : options_(options) {}

 private:
  int64_t needed(const RowRequest&) const override {
    return options_.sampling == Sampling::topk ? options_.sampling_pieces : 1;
  }
  bool needs_all_scores() const override { return options_.sampling != Sampling::topk; }

  std::vector<int32_t> choose(const Predictions& predictions, int64_t row, const RowRequest& request) const override {
    const std::vector<Weighed> pieces = weighed(predictions, row, *request.allowed);
    if (pieces.empty()) return {};
    const double total = sum(pieces);
    std::vector<int32_t> drawn;
    PhiloxCounter counter = request.draw;
    for (int i = 0; i < request.share; ++i, ++counter[3])
      drawn.push_back(piece_at(pieces, total * uniform(counter, options_.seed)));
    return drawn;
  }

  // Weights are relative to the best allowed piece: at low temperatures other weights may underflow, but never its own.
  std::vector<Weighed> weighed(const Predictions& predictions, int64_t row, const Allowed& allowed) const {
    std::vector<Weighed> pieces = choices(predictions, row, allowed);
    if (pieces.empty()) return {};
    const float top = float(std::max_element(pieces.begin(), pieces.end())->weight);
    for (Weighed& w : pieces) w.weight = std::exp((float(w.weight) - top) / float(options_.temperature));
    return options_.sampling == Sampling::nucleus ? nucleus(std::move(pieces), options_.sampling_mass) : pieces;
  }

  // The weights of the pieces, from their scores.
  std::vector<Weighed> choices(const Predictions& predictions, int64_t row, const Allowed& allowed) const {
    if (options_.sampling != Sampling::topk && !allowed.only) return all_but(predictions, row, allowed.ids);
    const bool topk = options_.sampling == Sampling::topk;
    const size_t count = topk ? size_t(options_.sampling_pieces) : allowed.ids.size();
    std::vector<Weighed> pieces;
    for (const int32_t id : best_allowed(predictions, row, allowed, count))
      pieces.push_back({predictions.score(row, id), id});
    return pieces;
  }

  static std::vector<Weighed> all_but(const Predictions& predictions, int64_t row, std::span<const int32_t> ids) {
    const auto scores = predictions.scores(row);
    std::vector<Weighed> pieces;
    pieces.reserve(scores.size());
    auto forbidden = ids.begin();
    for (size_t i = 0; i < scores.size(); ++i) {
      const int32_t id = predictions.piece(row, i);
      while (forbidden != ids.end() && *forbidden < id) ++forbidden;
      if (forbidden == ids.end() || *forbidden != id) pieces.push_back({scores[i], id});
    }
    return pieces;
  }

  const SearchOptions& options_;
};

}  // namespace

std::unique_ptr<const Picker> make_sampler(const SearchOptions& options) { return std::make_unique<Sampler>(options); }

}  // namespace dragoman
