#include "cli/command.h"
#include "cli/commands.h"
#include "cli/dry_run_page.h"
#include "cli/profiled.h"
#include "cli/signals.h"
#include "cli/train_options.h"
#include "runlog/message_file.h"
#include "train/destination.h"
#include "train/trainer.h"

namespace dragoman {
namespace {

int train(Engine& engine, const TrainingSetup& setup, bool profile) {
  Communicator& ranks = engine.ranks();
  std::optional<ModelLock> lock;
  if (ranks.rank() == 0) lock.emplace(setup.training.model);
  RunControl control;
  const RequestSignals requests(control);
  return profiled(profile, engine, [&](const Backend& device) {
    Trainer trainer(setup, device, control, ranks);
    const StopSignals stops(control);  // until training begins, a signal ends the process at once
    trainer.run();
  });
}

// --log: the file has the error that ends a run, too.
int logged_to(const std::string& path, const std::function<int()>& work) {
  if (path.empty()) return work();
  MessageFile messages(path);
  try {
    const int code = work();
    messages.close();
    return code;
  } catch (const Error& error) {
    messages.write(fmt::format("error: {}", error.what()));
    throw;
  }
}

}  // namespace

int train_command(Engine& engine, const TrainOptions& o) {
  const TrainingSetup setup{.model = o, .data = o, .optimizer = o, .training = o};
  if (o.dry_run) {
    if (engine.ranks().rank() == 0)
      print_page(dry_run_page(dry_run(setup, engine.backend(), engine.ranks().size()), o));
    return 0;
  }
  return logged_to(o.log, [&] { return train(engine, setup, o.profile); });
}

}  // namespace dragoman
