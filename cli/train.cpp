#include "backend/registry.h"
#include "cli/command.h"
#include "cli/dry_run_page.h"
#include "cli/options.h"
#include "cli/profiled.h"
#include "train/trainer.h"

namespace dragoman {

int train_command(const TrainOptions& o) {
  const TrainingSetup setup{.model = o, .data = o, .optimizer = o, .training = o};
  if (o.dry_run) {
    print_page(dry_run_page(dry_run(setup, backend("cpu")), o));
    return 0;
  }
  return profiled(o.profile, [&](const Backend& cpu) {
    Trainer trainer(setup, cpu);
    trainer.run();
  });
}

}  // namespace dragoman
