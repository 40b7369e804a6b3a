#include "train/learner.h"

#include "train/not_finite.h"

namespace dragoman {

double Learner::learn(const Batch& batch, int64_t update) {
  Tape tape;
  Context cx{.backend = backend, .arena = arena, .tape = &tape};
  cx.seed = setup.training.seed;
  cx.update = uint32_t(update);
  cx.training = true;
  const LabelLoss loss = model.loss(cx, batch, setup.optimizer.label_smoothing);
  if (setup.training.check_nan && culprit.empty()) culprit = first_bad_weight(backend, model.parameters());
  if (setup.training.check_nan && culprit.empty()) culprit = first_bad_output(backend, tape);
  tape.backward(backend, arena);
  return backend.sum(loss.loss);
}

}  // namespace dragoman
