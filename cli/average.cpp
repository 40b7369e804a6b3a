#include "cli/average_options.h"
#include "cli/commands.h"
#include "options/flags.h"
#include "options/shared_flags.h"

namespace dragoman {

Table<AverageCommandOptions> average_table() {
  using O = AverageCommandOptions;
  return {.about = {.name = "average",
                    .summary = "average the weights of several models",
                    .usage = "-o OUT MODEL...",
                    .text = "Writes a model whose weights are the means of the given models' weights. The models must "
                            "have the same architecture, such as checkpoints of one run; options that affect "
                            "only training, such as dropout, may differ, and are taken from the first."},
          .flags = joined(std::vector<Flag<O>>{{.name = "output",
                                                .letter = 'o',
                                                .field = &O::output,
                                                .value = "FILE",
                                                .group = "Files",
                                                .help = "model file to write",
                                                .required = true,
                                                .use = FileUse::written},
                                               {.name = "models",
                                                .letter = 'm',
                                                .field = &O::models,
                                                .value = "MODEL...",
                                                .group = "Files",
                                                .help = "models to average",
                                                .required = true,
                                                .positional = true,
                                                .use = FileUse::read_model},
                                               vocabs_flag<O>("Files")},
                          machine_flags<O>("Run")),
          .check = [](O& o, const Given&, Findings& findings) { check_vocabs(o, findings); }};
}

int average_command(Engine& engine, const AverageCommandOptions& options) {
  average_models(engine, options);
  return 0;
}

}  // namespace dragoman
