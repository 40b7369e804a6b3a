#include "decode/ensemble.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/threads.h"

namespace dragoman {
namespace {

void require_numbers(const Tensor& lse) {
  const std::span rows(lse.as<float>(), size_t(lse.rows()));
  if (std::ranges::any_of(rows, [](float x) { return !std::isfinite(x); }))
    throw Error("the model's output is not a number: its weights are damaged, or training has diverged",
                "take an earlier checkpoint; dragoman inspect shows what a model file holds");
}

// Rounding must not make a probability larger than 1.
float log_prob_of(float logit, float lse) { return std::min(0.f, logit - lse); }

}  // namespace

std::span<const float> Predictions::scores(int64_t row) const {
  return {scores_.view<const float>().row(row), size_t(vocabulary())};
}

float Predictions::log_prob(int64_t row, int32_t id) const {
  return log_prob_of(scores(row)[id], lse_ ? lse_.as<float>()[row] : 0.f);
}

std::vector<float> Predictions::by_model(int64_t row, int32_t id) const {
  std::vector<float> log_probs;
  for (const Part& p : parts_)
    log_probs.push_back(log_prob_of(p.logits.view<const float>().row(row)[id], p.lse.as<float>()[row]));
  return log_probs;
}

std::span<const int32_t> Predictions::best(int64_t row) const {
  return {best_.view<const int32_t>().row(row), size_t(best_.cols())};
}

Ensemble::Ensemble(Context& cx, std::vector<Member> members) : cx_(cx), members_(std::move(members)) {
  invariant(!members_.empty(), "an ensemble has a model");
}

int Ensemble::add(const PackedIds& source, int width) {
  const int first = members_[0].decoding->add(source, width);
  for (size_t m = 1; m < members_.size(); ++m)
    invariant(members_[m].decoding->add(source, width) == first, "models number sentences alike");
  return first;
}

void Ensemble::remove(int sentence) {
  for (const Member& m : members_) m.decoding->remove(sentence);
}

Predictions Ensemble::step(std::span<const StepRow> rows, int64_t most_probable) {
  const auto top = [&](const Tensor& logits, int64_t k) {  // {ids, lse}
    const int64_t R = logits.rows();
    const Tensor values = cx_.arena.allocate({R, k}, logits.dtype()), ids = cx_.arena.allocate({R, k}, DType::i32),
                 lse = cx_.arena.allocate({R}, stat_type(logits.dtype()));
    cx_.backend.top_k(values, ids, lse, logits);
    require_numbers(lse);
    return std::pair(ids, lse);
  };
  std::vector<Predictions::Part> parts;
  for (const Member& m : members_) parts.push_back({m.decoding->step(rows), {}});
  const int64_t k = std::min(most_probable, parts[0].logits.cols());
  Predictions predictions;
  if (parts.size() == 1) {
    predictions.scores_ = parts[0].logits;
    std::tie(predictions.best_, predictions.lse_) = top(predictions.scores_, k);
    return predictions;
  }
  for (auto& p : parts) p.lse = top(p.logits, 1).second;
  predictions = combined(std::move(parts));
  predictions.best_ = top(predictions.scores_, k).first;
  return predictions;
}

Predictions Ensemble::combined(std::vector<Predictions::Part> parts) const {
  const int64_t R = parts[0].logits.rows(), V = parts[0].logits.cols();
  Predictions predictions;
  predictions.scores_ = cx_.arena.allocate({R, V}, DType::f32);
  const auto scores = predictions.scores_.view<float>();
  parallel_blocks(R, 1, [&](Range rows, int) {
    for (int64_t r = rows.begin; r < rows.end; ++r) {
      std::fill_n(scores.row(r), V, 0.f);
      for (size_t m = 0; m < parts.size(); ++m) {
        const float weight = float(members_[m].weight), lse = parts[m].lse.as<float>()[r];
        const float* logits = parts[m].logits.view<const float>().row(r);
        for (int64_t v = 0; v < V; ++v) scores.row(r)[v] += weight * (logits[v] - lse);
      }
    }
  });
  predictions.parts_ = std::move(parts);
  return predictions;
}

}  // namespace dragoman
