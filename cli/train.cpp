#include "backend/registry.h"
#include "cli/command.h"
#include "cli/dry_run_page.h"
#include "cli/options.h"
#include "train/trainer.h"

namespace dragoman {

int train_command(const TrainOptions& o) {
  const TrainingSetup setup{.model = o, .data = o, .optimizer = o, .training = o};
  if (o.dry_run) {
    print_page(dry_run_page(dry_run(setup, backend("cpu")), o));
    return 0;
  }
  Trainer trainer(setup, backend("cpu"));
  trainer.run();
  return 0;
}

}  // namespace dragoman
