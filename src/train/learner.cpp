#include "train/learner.h"

#include "train/not_finite.h"

namespace dragoman {
namespace {

Context context(const Learner& learner, Tape& tape, int64_t update) {
  Context cx{.backend = learner.backend, .arena = learner.arena, .tape = &tape};
  cx.seed = learner.setup.training.seed;
  cx.update = uint32_t(update);
  cx.training = true;
  return cx;
}

// Of all ops only attentions are told their names, so others are described by those around them. A second pass finds
// them; by then the memory of the first is free again.
std::string whereabouts(size_t record, const Learner& learner, const Batch& batch, int64_t update) {
  Tape tape;
  std::string before, itself, after;
  const AttentionWatch watch = [&](const std::string& name, const AttentionShape&, const Tensor&) {
    if (tape.size() < record)
      before = name;
    else if (tape.size() == record)
      itself = name;
    else if (after.empty())
      after = name;
  };
  Context cx = context(learner, tape, update);
  cx.watch = &watch;
  learner.model.loss(cx, batch, learner.setup.optimizer.label_smoothing);
  if (!itself.empty()) return ", of " + itself;
  if (before.empty()) return after.empty() ? "" : ", before " + after;
  return after.empty() ? ", after " + before : fmt::format(", between {} and {}", before, after);
}

}  // namespace

double Learner::learn(const Batch& batch, int64_t update) {
  double loss = 0;
  for (const Batch& part : parts_of(batch, rows_at_once)) loss += learn_part(part, update);
  return loss;
}

double Learner::learn_part(const Batch& batch, int64_t update) {
  const bool looks = setup.training.check_nan && culprit.empty();
  Tape tape;
  Context cx = context(*this, tape, update);
  const LabelLoss loss = model.loss(cx, batch, setup.optimizer.label_smoothing);
  std::optional<BadOutput> bad;
  if (looks) culprit = first_bad_weight(backend, model.parameters());
  if (looks && culprit.empty()) bad = first_bad_output(backend, tape);
  tape.backward(backend, arena);
  if (bad) culprit = bad->what + whereabouts(bad->record, *this, batch, update);
  return backend.sum(loss.loss);
}

}  // namespace dragoman
