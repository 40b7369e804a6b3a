#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <limits>
#include <ranges>

#include "decode/picker.h"
#include "decode/vector_math.h"

namespace dragoman {
namespace {

/// Pieces that may be drawn.
struct Pieces {
  std::vector<float> weights;  // probabilities up to a factor; 0: may not be drawn
  std::vector<int32_t> ids;    // of each; empty: all pieces that the predictions allow, Predictions::piece()
};

double sum(std::span<const float> weights) {
  constexpr size_t lanes = 8;  // sums that do not wait for each other
  double sums[lanes] = {};
  for (; weights.size() >= lanes; weights = weights.subspan(lanes))
    for (size_t i = 0; i < lanes; ++i) sums[i] += weights[i];
  double sum = 0;
  for (const double of_lane : sums) sum += of_lane;
  for (const float weight : weights) sum += weight;
  return sum;
}

// Scores become weights. They are relative to the best piece, whose score is `top`: at low temperatures other weights
// may underflow, but never its own.
void weigh(std::span<float> scores, float top, double temperature) {
  for (float& score : scores) score = exp_of_negative((score - top) / float(temperature));
}

// In [0, 1).
double uniform(PhiloxCounter counter, uint64_t seed) {
  const PhiloxCounter bits = philox(counter, {uint32_t(seed), uint32_t(seed >> 32)});
  return double((uint64_t{bits[0]} << 32 | bits[1]) >> 11) * 0x1p-53;
}

// The index of what is drawn. If rounding leaves the sum slightly below `at`, it is the last that may be drawn.
size_t index_at(std::span<const float> weights, double at) {
  for (size_t i = 0; i < weights.size(); ++i)
    if ((at -= weights[i]) < 0) return i;
  size_t last = weights.size() - 1;
  while (last > 0 && weights[last] == 0) --last;
  return last;
}

/// The fewest pieces, most probable first and at least one, that together have a share of all weights. To sort the
/// pieces would take much longer than the step of a small model, so that they are put into buckets by the first bits of
/// their weights, and only two buckets are sorted.
class Nucleus {
 public:
  Nucleus(std::span<const float> weights, double share) : weights_(weights) {
    for (const float weight : weights) masses_[bucket(weight)] += weight;
    const double wanted = share * sum(weights);
    for (; least_ > 0 && (masses_[least_] == 0 || above_ + masses_[least_] < wanted); --least_)
      above_ += masses_[least_];
    while (masses_[least_] == 0) above_ -= masses_[++least_];  // all pieces are in it, and rounding asked for more
    for (const size_t i : members(least_)) {
      if (!of_least_.empty() && above_ + sum_of_least_ >= wanted) break;
      of_least_.push_back(i);
      sum_of_least_ += weights[i];
    }
  }

  double total() const { return above_ + sum_of_least_; }
  /// The index of what is drawn, for `at` in [0, total()).
  size_t index_at(double at) const {
    for (uint32_t b = buckets - 1; b > least_; at -= masses_[b--])
      if (at < masses_[b]) return drawn(members(b), at);
    return drawn(of_least_, at);
  }

 private:
  static constexpr int shift = 20;  // leaves the exponent and 3 bits
  static constexpr uint32_t buckets = 1 << (31 - shift);
  static uint32_t bucket(float weight) { return std::bit_cast<uint32_t>(weight) >> shift; }

  // The pieces of a bucket, most probable first.
  std::vector<size_t> members(uint32_t wanted) const {
    std::vector<size_t> found;
    for (size_t i = 0; i < weights_.size(); ++i)
      if (bucket(weights_[i]) == wanted && weights_[i] > 0) found.push_back(i);
    std::ranges::stable_sort(found, std::greater(), [&](size_t i) { return weights_[i]; });
    return found;
  }
  size_t drawn(const std::vector<size_t>& pieces, double at) const {
    for (const size_t i : pieces)
      if ((at -= weights_[i]) < 0) return i;
    return pieces.back();
  }

  std::span<const float> weights_;
  std::array<double, buckets> masses_{};
  uint32_t least_ = buckets - 1;         // the bucket of the least probable pieces in the nucleus
  std::vector<size_t> of_least_;         // which are these
  double above_ = 0, sum_of_least_ = 0;  // the weights of the buckets above, and of these pieces
};

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
    const bool listed = options_.sampling == Sampling::topk || request.allowed->only;
    const Pieces pieces = listed ? best(predictions, row, *request.allowed) : all(predictions, row, *request.allowed);
    if (pieces.weights.empty()) return {};
    std::vector<int32_t> drawn;
    PhiloxCounter counter = request.draw;
    const auto draw = [&](double total, const auto& index_at) {
      for (int i = 0; i < request.share; ++i, ++counter[3])
        drawn.push_back(id_of(pieces, index_at(total * uniform(counter, options_.seed)), predictions, row));
    };
    if (options_.sampling == Sampling::nucleus) {
      const Nucleus nucleus(pieces.weights, options_.sampling_mass);
      draw(nucleus.total(), [&](double at) { return nucleus.index_at(at); });
    } else {
      draw(sum(pieces.weights), [&](double at) { return index_at(pieces.weights, at); });
    }
    return drawn;
  }

  static int32_t id_of(const Pieces& pieces, size_t i, const Predictions& predictions, int64_t row) {
    return pieces.ids.empty() ? predictions.piece(row, i) : pieces.ids[i];
  }

  Pieces best(const Predictions& predictions, int64_t row, const Allowed& allowed) const {
    const bool topk = options_.sampling == Sampling::topk;
    const size_t count = topk ? size_t(options_.sampling_pieces) : allowed.ids.size();
    Pieces pieces{.ids = best_allowed(predictions, row, allowed, count)};
    for (const int32_t id : pieces.ids) pieces.weights.push_back(predictions.score(row, id));
    if (!pieces.ids.empty()) weigh(pieces.weights, pieces.weights[0], options_.temperature);
    return pieces;
  }

  // All but the forbidden ones.
  Pieces all(const Predictions& predictions, int64_t row, const Allowed& allowed) const {
    constexpr float never = -std::numeric_limits<float>::infinity();
    const auto scores = predictions.scores(row);
    Pieces pieces{.weights = {scores.begin(), scores.end()}};
    const auto piece = [&](size_t i) { return predictions.piece(row, i); };
    size_t at = 0;
    for (const int32_t id : allowed.ids) {
      at = *std::ranges::lower_bound(std::views::iota(at, scores.size()), id, {}, piece);
      if (at == scores.size()) break;
      if (piece(at) == id) pieces.weights[at] = never;
    }
    const bool may_be_best = allowed.contains(predictions.best(row)[0]);
    const float top = may_be_best ? predictions.best_scores(row)[0] : std::ranges::max(pieces.weights);
    if (top == never) return {};
    weigh(pieces.weights, top, options_.temperature);
    return pieces;
  }

  const SearchOptions& options_;
};

}  // namespace

std::unique_ptr<const Picker> make_sampler(const SearchOptions& options) { return std::make_unique<Sampler>(options); }

}  // namespace dragoman
