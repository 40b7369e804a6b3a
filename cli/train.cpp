#include "cli/command.h"
#include "cli/commands.h"
#include "cli/dry_run_page.h"
#include "cli/profiled.h"
#include "cli/signals.h"
#include "cli/train_options.h"
#include "train/destination.h"
#include "train/trainer.h"

namespace dragoman {

int train_command(Engine& engine, const TrainOptions& o) {
  const TrainingSetup setup{.model = o, .data = o, .optimizer = o, .training = o};
  if (o.dry_run) {
    print_page(dry_run_page(dry_run(setup, engine.backend()), o));
    return 0;
  }
  const ModelLock lock(o.model);
  RunControl control;
  const RequestSignals requests(control);
  return profiled(o.profile, engine, [&](const Backend& device) {
    Trainer trainer(setup, device, control);
    const StopSignals stops(control);  // until training begins, a signal ends the process at once
    trainer.run();
  });
}

}  // namespace dragoman
