#include <optional>

#include "cli/command.h"
#include "cli/commands.h"
#include "cli/dry_run_page.h"
#include "cli/profiled.h"
#include "cli/signals.h"
#include "comm/machine_ranks.h"
#include "engine/run_training.h"

namespace dragoman {

int train_command(Engine& engine, const TrainOptions& given) {
  Communicator& ranks = engine.ranks();
  if (given.dry_run) {
    const int here = ranks.size() > 1 ? MachineRanks(ranks).size() : 1;
    if (ranks.rank() == 0)
      print_page(dry_run_page(dry_run(setup_of(given), engine.backend(), ranks.size(), here), given));
    return 0;
  }
  RunControl control;
  const RequestSignals requests(control);
  std::optional<StopSignals> stops;  // until training begins, a signal ends the process at once
  TrainOptions options = given;
  options.progress_bar = !given.quiet;
  options.observer = [&](const RunMoment&, const RunEvent& event) {
    if (std::holds_alternative<RunStarted>(event)) stops.emplace(control);
  };
  return profiled(given.profile, engine, [&](const Backend& device) { run_training(options, device, control, ranks); });
}

}  // namespace dragoman
