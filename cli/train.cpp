#include "backend/registry.h"
#include "cli/command.h"
#include "cli/dry_run_page.h"
#include "cli/options.h"
#include "cli/profiled.h"
#include "train/destination.h"
#include "train/trainer.h"

namespace dragoman {

int train_command(const TrainOptions& o) {
  const TrainingSetup setup{.model = o, .data = o, .optimizer = o, .training = o};
  if (o.dry_run) {
    print_page(dry_run_page(dry_run(setup, backend(o.devices[0])), o));
    return 0;
  }
  const ModelLock lock(o.model);
  return profiled(o.profile, o.devices[0], [&](const Backend& device) {
    Trainer trainer(setup, device);
    trainer.run();
  });
}

}  // namespace dragoman
