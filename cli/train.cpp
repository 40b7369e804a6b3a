#include "backend/registry.h"
#include "cli/options.h"
#include "train/trainer.h"

namespace dragoman {

int train_command(const TrainOptions& o) {
  Trainer trainer({.model = o, .data = o, .optimizer = o, .training = o}, backend("cpu"));
  trainer.run();
  return 0;
}

}  // namespace dragoman
