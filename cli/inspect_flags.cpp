#include <fmt/format.h>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/inspect_options.h"
#include "options/flags.h"
#include "options/shared_flags.h"
#include "options/table_files.h"

namespace dragoman {
namespace {

void check_inspect(InspectOptions& o, const Given& given, Findings& findings) {
  check_vocabs(o, findings);
  findings.expect(!o.options || !o.devices,
                  "--options prints the options of a model and --devices lists the hardware: give one");
  findings.expect(!o.options || !o.json, "--options prints YAML and --json prints JSON: give one");
  if (given("model") != o.devices) return;
  if (o.devices) findings.add(Error(fmt::format("--devices lists the hardware and takes no model, found {}", o.model)));
  if (!o.devices) findings.add(Error("there is nothing to inspect", "give a model file or --devices; see --help"));
}

}  // namespace

Table<InspectOptions> inspect_table() {
  using O = InspectOptions;
  static constexpr auto group = "Options";
  return {.about = {.name = "inspect",
                    .summary = "show what a model file holds, or what hardware is available",
                    .usage = "MODEL | --devices",
                    .text = "Prints the configuration, the vocabularies and the parameters of a model."},
          .flags = {{.name = "model",
                     .letter = 'm',
                     .field = &O::model,
                     .value = "MODEL",
                     .group = group,
                     .help = "the model file",
                     .positional = true,
                     .use = FileUse::read_model},
                    vocabs_flag<O>(group),
                    {.name = "devices",
                     .letter = 'd',
                     .field = &O::devices,
                     .group = group,
                     .help = "list the available CPUs and GPUs instead"},
                    {.name = "options",
                     .field = &O::options,
                     .group = group,
                     .help = "print the options that define such a model and its vocabularies, as YAML for train -c"},
                    {.name = "json", .field = &O::json, .group = group, .help = "print one JSON object"}},
          .check = check_inspect,
          .files = prints<O>};
}

}  // namespace dragoman
