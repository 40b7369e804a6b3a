#include "decode/ensemble.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "align/model_alignment.h"
#include "backend/backend.h"
#include "base/error.h"
#include "base/threads.h"
#include "decode/queued_step.h"
#include "decode/vector_math.h"
#include "model/model.h"

namespace dragoman {
namespace {

// One number per row shows whether its scores are finite: their lse, or the largest score, which is the first.
void require_numbers(const Tensor& of_rows, const Context& cx) {
  const int64_t R = of_rows.shape()[0];
  int64_t r = 0;
  while (r < R && std::isfinite(of_rows.as<float>()[r * (of_rows.elements() / R)])) ++r;
  if (r == R) return;
  if (cx.rounded && cx.rounded->type == DType::f16)
    throw DamagedModel(
        "the model's output is NaN: with --precision float16 no number may exceed 65,504, and one of this model's "
        "activations probably does",
        "use --precision bfloat16 or float32; if the output is NaN there too, the weights are damaged");
  throw DamagedModel("the model's output is NaN: its weights are damaged, or its training diverged",
                     "use an earlier checkpoint; dragoman inspect shows the contents of a model file");
}

// Rounding must not raise a probability above 1.
float log_prob_of(float logit, float lse) { return std::min(0.f, logit - lse); }

// Of the programs that models come from, fairseq averages probabilities.
bool is_arithmetic(EnsembleMean mean, const Conventions& conventions) {
  if (mean == EnsembleMean::automatic) return conventions.rule == SearchRule::fairseq;
  return mean == EnsembleMean::arithmetic;
}

}  // namespace

int32_t Predictions::piece(int64_t row, size_t choice) const {
  return candidates_.empty() ? int32_t(choice) : candidates_[row][choice];
}

int64_t Predictions::choices(int64_t row) const {
  return candidates_.empty() ? scores_.cols() : int64_t(candidates_[row].size());
}

bool Predictions::allows(int64_t row, int32_t id) const {
  return candidates_.empty() || std::ranges::binary_search(candidates_[row], id);
}

size_t Predictions::choice(int64_t row, int32_t id) const {
  if (candidates_.empty()) return size_t(id);
  const auto found = std::ranges::lower_bound(candidates_[row], id);
  invariant(found != candidates_[row].end() && *found == id, "the next piece must be a candidate");
  return size_t(found - candidates_[row].begin());
}

std::span<const float> Predictions::scores(int64_t row) const {
  invariant(bool(scores_), "all scores must have been requested");
  return {scores_.view<const float>().row(row), size_t(choices(row))};
}

float Predictions::score(int64_t row, int32_t id) const {
  if (scores_) return scores(row)[choice(row, id)];
  return best_scores(row)[rank(row, id, 0)];
}

size_t Predictions::rank(int64_t row, int32_t id, size_t from) const {
  const auto all = best(row);
  auto found = std::find(all.begin() + ptrdiff_t(from), all.end(), id);
  if (found == all.end()) found = std::ranges::find(all, id);
  invariant(found != all.end(), "the piece must be one of the best, or all scores must have been requested");
  return size_t(found - all.begin());
}

float Predictions::log_prob(int64_t row, int32_t id, size_t& from) const {
  if (by_member_.empty() && !lse_) return 0;
  const float normaliser = by_member_.empty() ? lse_.as<float>()[row] : 0;
  if (scores_) return log_prob_of(score(row, id), normaliser);
  const size_t at = rank(row, id, from);
  from = at + 1;
  return log_prob_of(best_scores(row)[at], normaliser);
}

std::vector<float> Predictions::by_model(int64_t row, int32_t id) const {
  std::vector<float> log_probs;
  for (const MemberLogits& p : by_member_)
    log_probs.push_back(log_prob_of(p.logits.view<const float>().row(row)[choice(row, id)], p.lse.as<float>()[row]));
  return log_probs;
}

std::span<const int32_t> Predictions::best(int64_t row) const {
  const int64_t count = candidates_.empty() ? best_.cols() : std::min(best_.cols(), choices(row));
  return {best_.view<const int32_t>().row(row), size_t(count)};
}

std::span<const float> Predictions::best_scores(int64_t row) const {
  return {best_scores_.view<const float>().row(row), best(row).size()};
}

Ensemble::Ensemble(Context& cx, std::vector<Member> members, Conventions conventions, EnsembleMean mean)
    : cx_(cx),
      members_(std::move(members)),
      conventions_(std::move(conventions)),
      adds_probabilities_(is_arithmetic(mean, conventions_)) {
  invariant(!members_.empty(), "an ensemble needs a model");
  double sum = 0;
  for (const Member& m : members_) sum += m.weight;
  if (adds_probabilities_)
    for (Member& m : members_) m.weight /= sum;
}

Ensemble::Ensemble(Ensemble&&) noexcept = default;
Ensemble::~Ensemble() = default;

int Ensemble::add(const PackedIds& source, int width, std::vector<std::vector<int32_t>> candidates) {
  const int first = next_, count = int(source.spans.sentences());
  try {
    for (const Member& m : members_) m.decoding->add(first, source, width);
    for (size_t i = 0; i < candidates.size(); ++i) candidates_.add(first + int(i), std::move(candidates[i]));
    if (!candidates.empty()) restrict();
  } catch (...) {
    for (int s = 0; s < count; ++s) remove(first + s);
    if (!candidates_.empty()) restrict();
    throw;
  }
  next_ += count;
  return first;
}

void Ensemble::restrict() {
  const std::vector<int32_t>& together = candidates_.join();
  for (const Member& m : members_) m.decoding->restrict(together);
}

void Ensemble::remove(int sentence) {
  for (const Member& m : members_) m.decoding->remove(sentence);
  candidates_.remove(sentence);
}

void Ensemble::keep() {
  kept_ = true;
  for (const Member& m : members_) m.decoding->keep();
}

void Ensemble::keep_attention() { members_[0].decoding->keep_attention(); }

std::vector<Alignment> Ensemble::align(std::span<const DecodedTokens> hypotheses) const {
  std::vector<DecodedTokens> some;
  std::vector<size_t> numbers;
  for (size_t i = 0; i < hypotheses.size(); ++i)
    if (!hypotheses[i].rows.empty()) some.push_back(hypotheses[i]), numbers.push_back(i);
  std::vector<Alignment> all(hypotheses.size());
  if (some.empty()) return all;
  members_[0].decoding->show_attention(
      [&](const ObservedAttention& a) { put(alignments_of(a, conventions_.alignment), numbers, all); }, some);
  return all;
}

bool Ensemble::on_device() const { return cx_.backend.is_device(); }

bool Ensemble::may_step_ahead() const { return members_.size() == 1 && candidates_.empty() && cx_.backend.recorder; }

Predictions Ensemble::step(std::span<const StepRow> rows, const PredictionRequest& request, const AheadRequest* ahead) {
  Predictions predictions = members_.size() == 1 ? step_alone(rows, request, ahead) : step_together(rows, request);
  map_best_to_pieces(predictions);
  return predictions;
}

void Ensemble::begin(std::span<const StepRow> rows, const PredictionRequest& request) {
  ahead_ = nullptr;
  if (!may_step_ahead() || request.all) return;
  auto begun = std::make_unique<QueuedStep>(cx_, members_[0].decoding->step(rows), request.best, request.log_probs);
  begun->expect({rows.begin(), rows.end()});
  ahead_ = std::move(begun);
}

Predictions Ensemble::step_alone(std::span<const StepRow> rows, const PredictionRequest& request,
                                 const AheadRequest* ahead) {
  Decoding& model = *members_[0].decoding;
  Predictions predictions = predictions_for(rows);
  std::unique_ptr<QueuedStep> now = std::exchange(ahead_, nullptr);
  const bool follows = std::exchange(kept_, false);  // a step that was not kept is repeated
  if (now && follows && !request.all && now->covers(request.best, request.log_probs) && now->matches(rows)) {
    model.accept_ahead(rows);
  } else {
    const Tensor logits = narrowed(model.step(rows), rows);
    if (request.all) predictions.scores_ = logits.on_host();
    now = std::make_unique<QueuedStep>(cx_, logits, request.best, request.log_probs);
  }
  if (ahead) ahead_ = step_ahead(*now, rows, *ahead);
  std::vector<StepRow> chosen;
  const TopPieces top = now->read(rows, ahead_ ? &chosen : nullptr);
  if (ahead_) ahead_->expect(std::move(chosen));
  require_numbers(request.log_probs ? top.lse : top.scores, cx_);
  predictions.best_scores_ = top.scores, predictions.best_ = top.ids;
  if (request.log_probs) predictions.lse_ = top.lse;
  return predictions;
}

// Null if it cannot be done, among others for lack of memory: this step may be the last one, and then needs none.
std::unique_ptr<QueuedStep> Ensemble::step_ahead(QueuedStep& now, std::span<const StepRow> rows,
                                                 const AheadRequest& request) const {
  try {
    const Tensor logits = members_[0].decoding->step_ahead(rows, [&](const AheadTables& tables) {
      now.choose(request, tables);
      now.send();  // before the next step is queued, for which it would have to wait
    });
    return logits ? now.following(logits) : nullptr;
  } catch (const OutOfMemory&) {
    return nullptr;
  }
}

Predictions Ensemble::step_together(std::span<const StepRow> rows, const PredictionRequest& request) {
  Predictions predictions = predictions_for(rows);
  std::vector<Predictions::MemberLogits> parts;
  for (const Member& m : members_) {
    const Tensor logits = narrowed(m.decoding->step(rows), rows);
    parts.push_back({logits.on_host(), find_best(logits, 1, true).lse});
  }
  const TopPieces top = find_best(combine(predictions, std::move(parts)), request.best, false);
  predictions.best_scores_ = top.scores, predictions.best_ = top.ids;
  return predictions;
}

// Those of the rows' candidates, if there are candidates.
Predictions Ensemble::predictions_for(std::span<const StepRow> rows) const {
  Predictions predictions;
  if (!candidates_.empty())
    for (const StepRow& row : rows) predictions.candidates_.push_back(candidates_.pieces(row.sentence));
  return predictions;
}

TopPieces Ensemble::find_best(const Tensor& logits, int64_t count, bool with_lse) const {
  const TopPieces top = QueuedStep(cx_, logits, count, with_lse).read({}, nullptr);
  require_numbers(with_lse ? top.lse : top.scores, cx_);
  return top;
}

// If there are candidates, the logits of each row's candidates.
Tensor Ensemble::narrowed(const Tensor& logits, std::span<const StepRow> rows) const {
  if (candidates_.empty()) return logits;
  std::vector<int> sentences;
  for (const StepRow& row : rows) sentences.push_back(row.sentence);
  const Tensor own = cx_.arena.allocate({logits.rows(), candidates_.columns()}, logits.dtype());
  const Tensor scores = own.on_host();
  candidates_.take(scores, logits.on_host(), sentences);
  own.assign(scores);
  return own;
}

// On the host, like all work on the scores of several models.
Tensor Ensemble::combine(Predictions& predictions, std::vector<Predictions::MemberLogits> parts) const {
  const int64_t R = parts[0].logits.rows(), C = parts[0].logits.cols();
  const Tensor joint = cx_.arena.allocate({R, C}, DType::f32);
  predictions.scores_ = joint.on_host();
  const auto scores = predictions.scores_.view<float>();
  parallel_blocks(R, 1, [&](Range rows, int) {
    for (int64_t r = rows.begin; r < rows.end; ++r) {
      const auto choices = int64_t(predictions.scores(r).size());
      float* const joined = scores.row(r);
      std::fill_n(joined, choices, 0.f);
      std::fill(joined + choices, joined + C, impossible);
      bool first = true;
      for (size_t m = 0; m < parts.size(); ++m) {
        const float weight = float(members_[m].weight), lse = parts[m].lse.as<float>()[r];
        const float* logits = parts[m].logits.view<const float>().row(r);
        if (!adds_probabilities_)
          for (int64_t c = 0; c < choices; ++c) joined[c] += weight * (logits[c] - lse);
        else if (const float log_weight = std::log(weight); weight > 0 && std::exchange(first, false))
          for (int64_t c = 0; c < choices; ++c) joined[c] = log_weight + logits[c] - lse;
        else if (weight > 0)
          for (int64_t c = 0; c < choices; ++c) joined[c] = log_sum(joined[c], log_weight + logits[c] - lse);
      }
    }
  });
  predictions.by_member_ = std::move(parts);
  joint.assign(predictions.scores_);
  return joint;
}

// top_k returned indices into the candidates.
void Ensemble::map_best_to_pieces(Predictions& predictions) const {
  for (size_t r = 0; r < predictions.candidates_.size(); ++r) {
    int32_t* ids = predictions.best_.view<int32_t>().row(int64_t(r));
    for (size_t i = 0; i < predictions.best(int64_t(r)).size(); ++i)
      ids[i] = predictions.piece(int64_t(r), size_t(ids[i]));
  }
}

}  // namespace dragoman
