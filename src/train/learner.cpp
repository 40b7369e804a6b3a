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
      loss_(arena.allocate({1}, DType::f64)),
      loss_of_links_(setup.data.guided_alignment.empty() ? Tensor() : arena.allocate({1}, DType::f64)) {
  const TrainingPrecision precision = setup.training.precision;
  const auto round_to = [&](DType type) {
    rounded_ = model.parameters().rounded_weights(type, setup.training.half_activations);
  };
  if (precision == TrainingPrecision::bfloat16) round_to(DType::bf16);
  if (precision == TrainingPrecision::float16) round_to(DType::f16);
}

void Learner::begin_update(double loss_scale) {
  loss_scale_ = loss_scale;
  first_nonfinite.clear();
  if (rounded_) model_.parameters().round(*rounded_);
  begin_shard();
}

void Learner::restart_update(int64_t rows) {
  rows_ = rows;
  first_nonfinite.clear();
  weight_of_links_ = 0;
  begin_shard();
}

void Learner::begin_shard() {
  adds_ = Accumulate::no;
  model_.parameters().forget_gradients();
}

double Learner::end_shard() {
  model_.parameters().zero_unwritten_gradients();
  return adds_ == Accumulate::yes ? loss_.on_host().as<double>()[0] : 0;
}

void Learner::set_loss(double sum) { loss_.assign(Tensor::borrow(&sum, {1})); }

Context Learner::context(Tape& tape, int64_t update) const {
  Context cx{.backend = backend_, .arena = arena_, .tape = &tape};
  if (rounded_) cx.rounded = &*rounded_;
  cx.seed = setup_.training.seed;
  cx.update = uint32_t(update);
  cx.training = true;
  cx.shows_nan = setup_.training.check_nan;
  return cx;
}

// Only attention ops know their names, so other ops are described by the attentions before and after them. A second
// forward pass finds these; the memory of the first pass is free by then.
std::string Learner::location_of(size_t record, const Batch& micro_batch, int64_t update) const {
  Tape tape;
  std::string before, itself, after;
  const AttentionObserver observer = [&](const ObservedAttention& a) {
    if (tape.size() < record || !a.y.node())  // without a node: frozen, so not recorded
      before = a.name;
    else if (tape.size() == record)
      itself = a.name;
    else if (after.empty())
      after = a.name;
  };
  Context cx = context(tape, update);
  cx.observer = &observer;
  model_.loss(cx, micro_batch, setup_.optimizer.label_smoothing);
  if (!itself.empty()) return ", of " + itself;
  if (before.empty()) return after.empty() ? "" : ", before " + after;
  return after.empty() ? ", after " + before : fmt::format(", between {} and {}", before, after);
}

// Batch norm computes statistics per micro-batch. So on a CPU, the size of micro-batches does not depend on the number
// of threads, and all micro-batches of a batch have about the same size instead of leaving a small last one.
std::vector<Batch> Learner::micro_batches(const Batch& batch) const {
  if (model_.config().norm_kind != NormKind::batch) return micro_batches_of(batch, rows_);
  return even_micro_batches_of(batch, backend_.is_device() ? rows_ : std::min(rows_, least_rows_at_once));
}

void Learner::learn(const Batch& batch, int64_t update) {
  for (Batch& micro_batch : micro_batches(batch)) {
    if (loss_scale_ != 1) micro_batch.multiply_weights(float(loss_scale_));
    learn_micro_batch(micro_batch, update);
  }
}

void Learner::learn_micro_batch(const Batch& micro_batch, int64_t update) {
  const bool looks = setup_.training.check_nan && first_nonfinite.empty();
  Tape tape;
  Context cx = context(tape, update);
  if (statistics) statistics->begin_micro_batch();
  const TokenLoss loss = model_.loss(cx, micro_batch, setup_.optimizer.label_smoothing);
  if (statistics) statistics->end_micro_batch();
  std::optional<BadOutput> bad;
  if (looks) first_nonfinite = first_bad_weight(backend_, arena_, model_.parameters());
  if (looks && first_nonfinite.empty()) bad = first_bad_output(backend_, arena_, tape);
  tape.backward(backend_, arena_);
  if (bad) first_nonfinite = bad->what + location_of(bad->record, micro_batch, update);
  backend_.sum(Grad{loss_, std::exchange(adds_, Accumulate::yes)}, loss.loss);
  if (!loss.of_links) return;
  backend_.sum(Grad{loss_of_links_, weight_of_links_ > 0 ? Accumulate::yes : Accumulate::no}, loss.of_links);
  weight_of_links_ += micro_batch.linked_weight();
}

Learner::LossOfLinks Learner::take_loss_of_links() {
  if (weight_of_links_ == 0) return {};
  return {loss_of_links_.on_host().as<double>()[0], std::exchange(weight_of_links_, 0)};
}

}  // namespace dragoman
