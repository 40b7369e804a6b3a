#include "base/log.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/run_curves.h"
#include "cli/tables.h"

namespace dragoman {

Table<PlotOptions> plot_table() {
  using O = PlotOptions;
  return {.about = {.name = "plot",
                    .summary = "draw the curves of training runs as a web page",
                    .usage = "RUN.jsonl... > run.html",
                    .text = "Reads what train --log-json wrote and prints one HTML page that needs no network: cost, "
                            "validation, learning rate and speed, a line for each run."},
          .flags = {{.name = "logs",
                     .field = &O::logs,
                     .value = "FILE...",
                     .group = "Options",
                     .help = "logs of train --log-json; several are compared",
                     .required = true,
                     .positional = true}}};
}

int plot_command(Engine&, const PlotOptions& o) {
  std::vector<RunCurves> runs;
  for (const std::string& path : o.logs) runs.push_back(read_curves(path));
  print_page(plot_page(runs));
  return 0;
}

}  // namespace dragoman
