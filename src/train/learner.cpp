#include "train/learner.h"

#include <utility>

#include "backend/backend.h"
#include "train/not_finite.h"

namespace dragoman {

Learner::Learner(const Backend& backend, Arena& arena, Model& model, const TrainingSetup& setup, int64_t rows)
    : backend_(backend),
      arena_(arena),
      model_(model),
      setup_(setup),
      rows_(rows),
      loss_(arena.allocate({1}, DType::f64)) {
  const TrainingPrecision precision = setup.training.precision;
  if (precision == TrainingPrecision::bfloat16) rounded_.emplace(DType::bf16);
  if (precision == TrainingPrecision::float16) rounded_.emplace(DType::f16);
}

void Learner::begin_update(double usual_loss, double loss_scale) {
  usual_loss_ = usual_loss;
  loss_scale_ = loss_scale;
  adds_ = Accumulate::no;
  culprit.clear();
  model_.parameters().forget_gradients();
  if (rounded_) model_.parameters().round(*rounded_);
}

Context Learner::context(Tape& tape, int64_t update) const {
  Context cx{.backend = backend_, .arena = arena_, .tape = &tape};
  if (rounded_) cx.rounded = &*rounded_;
  cx.seed = setup_.training.seed;
  cx.update = uint32_t(update);
  cx.usual_loss = usual_loss_;
  cx.loss_scale = loss_scale_;
  cx.training = true;
  cx.shows_nan = setup_.training.check_nan;
  return cx;
}

// Of all ops only attentions are told their names, so others are described by those around them. A second pass finds
// them; by then the memory of the first is free again.
std::string Learner::whereabouts(size_t record, const Batch& part, int64_t update) const {
  Tape tape;
  std::string before, itself, after;
  const AttentionWatch watch = [&](const WatchedAttention& a) {
    if (tape.size() < record)
      before = a.name;
    else if (tape.size() == record)
      itself = a.name;
    else if (after.empty())
      after = a.name;
  };
  Context cx = context(tape, update);
  cx.watch = &watch;
  model_.loss(cx, part, setup_.optimizer.label_smoothing);
  if (!itself.empty()) return ", of " + itself;
  if (before.empty()) return after.empty() ? "" : ", before " + after;
  return after.empty() ? ", after " + before : fmt::format(", between {} and {}", before, after);
}

// Batch norms take statistics of what goes together: on a CPU of as many words whatever the number of threads, and
// nowhere of a few that are left over.
std::vector<Batch> Learner::parts(const Batch& batch) const {
  if (model_.config().norm_kind != NormKind::batch) return parts_of(batch, rows_);
  return even_parts_of(batch, backend_.memory ? rows_ : std::min(rows_, least_rows_at_once));
}

void Learner::learn(const Batch& batch, int64_t update) {
  for (Batch& part : parts(batch)) {
    if (loss_scale_ != 1) part.multiply_weights(float(loss_scale_));
    learn_part(part, update);
  }
}

void Learner::learn_part(const Batch& part, int64_t update) {
  const bool looks = setup_.training.check_nan && culprit.empty();
  Tape tape;
  Context cx = context(tape, update);
  const LabelLoss loss = model_.loss(cx, part, setup_.optimizer.label_smoothing);
  std::optional<BadOutput> bad;
  if (looks) culprit = first_bad_weight(backend_, arena_, model_.parameters());
  if (looks && culprit.empty()) bad = first_bad_output(backend_, arena_, tape);
  tape.backward(backend_, arena_);
  if (bad) culprit = bad->what + whereabouts(bad->record, part, update);
  backend_.sum(Grad{loss_, std::exchange(adds_, Accumulate::yes)}, loss.loss);
}

}  // namespace dragoman
