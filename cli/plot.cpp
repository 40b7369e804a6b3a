#include "base/line_writer.h"
#include "cli/commands.h"
#include "cli/plot_options.h"
#include "options/shared_flags.h"
#include "pages/curves_page.h"

namespace dragoman {

namespace {

void check(PlotOptions& o, const Given&, Findings& findings) { check_stdin("logs", o.logs, findings); }

}  // namespace

Table<PlotOptions> plot_table() {
  using O = PlotOptions;
  return {.about = {.name = "plot",
                    .summary = "plot training runs as a web page",
                    .usage = "RUN.jsonl... [-o run.html]",
                    .text = "Reads the logs of train --log-json and writes one self-contained HTML page with the "
                            "curves of cost, validation, learning rate and speed of each run."},
          .flags = {{.name = "logs",
                     .field = &O::logs,
                     .value = "FILE...",
                     .group = "Options",
                     .help = "logs of train --log-json; several runs are compared",
                     .required = true,
                     .positional = true},
                    {.name = "output",
                     .letter = 'o',
                     .field = &O::output,
                     .value = "FILE",
                     .group = "Options",
                     .help = "the page; - is stdout",
                     .use = FileUse::written}},
          .check = check};
}

int plot_command(Engine&, const PlotOptions& o) {
  std::vector<RunCurves> runs;
  for (const std::string& path : o.logs) runs.push_back(read_curves(path));
  write_lines_atomically(o.output, [&](LineWriter& out) { out.write_segment(curves_page(runs)); });
  return 0;
}

}  // namespace dragoman
