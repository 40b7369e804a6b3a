#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/help.h"
#include "cli/ranks.h"
#include "cli/stderr_log.h"
#include "cli/version.h"
#include "dragoman/engine.h"
#include "options/fill.h"
#include "options/flags.h"
#include "options/machine_options.h"
#include "options/table_files.h"
#include "options/train_options.h"

namespace dragoman {

enum class Dump { none, minimal, full };

inline std::span<const EnumName<Dump>> enum_names(Dump) {
  static constexpr EnumName<Dump> names[] = {{Dump::none, "none"}, {Dump::minimal, "minimal"}, {Dump::full, "full"}};
  return names;
}

constexpr std::string_view common_group = "General";

/// Options that every subcommand has besides its own. They are not allowed in configuration files.
struct CommonOptions {
  bool short_help = false;
  std::string help;  // "all", or the word that the options shown mention
  bool version = false;
  std::vector<std::string> config;
  Dump dump_config = Dump::none;
};

const std::vector<Flag<CommonOptions>>& common_flags();

/// The page that -h, --help or --version requests; nothing if none of them is given.
template <class Options>
std::optional<std::string> page_asked_for(const CommonOptions& common, const Table<Options>& table,
                                          const std::vector<Option>& all) {
  if (common.short_help) return short_help_page(table.about, all, table.essentials);
  if (common.help == every_option) return help_page(table.about, all);
  if (!common.help.empty()) return search_page(table.about, all, common.help);
  if (common.version) return version_page();
  return std::nullopt;
}

/// Which commands have an option, as a hint in the others: "an option of dragoman translate, serve"; empty: none or
/// all.
std::string commands_with(std::string_view option);

/// Fills `options`: its defaults, then the preset, the configuration files in their order and the command line, each
/// overriding the one before; then checks. All problems are reported in one Error. Returns the text to print in place
/// of running if --help, --version or --dump-config asks for it; with the first two nothing is checked. `configs`
/// becomes the configuration files.
template <class Options>
std::optional<std::string> parse(const Table<Options>& table, const Strings& arguments, Options& options,
                                 Strings* configs = nullptr) {
  CommonOptions common;
  Findings findings(table.about.name, commands_with);
  std::vector<Option> own = bind_flags(table.flags, options), shared = bind_flags(common_flags(), common);
  Assignments line = read_command_line(arguments, joined(own, shared), table.about, findings);
  assign(line, shared, findings);
  if (const auto page = page_asked_for(common, table, joined(own, shared))) return page;

  Assignments all = with_configs(common.config, own, line, findings);
  fill(table, all, options, own, {.may_lack = common.dump_config != Dump::none}, findings);
  findings.finish();
  if (common.dump_config != Dump::none) return to_yaml(own, common.dump_config == Dump::full);
  if (configs) *configs = common.config;
  return std::nullopt;
}

/// A subcommand with its option types erased.
struct Command {
  About about;
  std::function<int(const Strings& arguments)> run;
  std::function<std::vector<Option>()> options;  // own and common ones at their defaults
};

/// Writes a page to stdout. Throws BrokenPipe if the reader has gone.
void print_page(const std::string& page);

/// Calls f with the engine of a command, in each of its processes, which have the same `options`.
int run_on(EngineOptions machine, const ProcessOptions& processes, const std::vector<Option>& options,
           const std::function<int(Engine&)>& f);

/// Joins a table with the function that does the work. Applies what subcommands share: protection of input files from
/// being overwritten, the log level and the number of threads.
template <class Options>
Command make_command(Table<Options> given_table, int (*body)(Engine&, const Options&)) {
  const auto table = std::make_shared<const Table<Options>>(std::move(given_table));
  const auto run = [table, body](const Strings& arguments) {
    Options options;
    Strings configs;
    if (const auto page = parse(*table, arguments, options, &configs)) {
      print_page(*page);
      return 0;
    }
    CommandFiles files = files_of(*table, options);
    files.read.push_back({"--config", configs});
    refuse_overwriting(files);
    EngineOptions machine;
    bool quiet = false;
    ProcessOptions processes;
    if constexpr (std::derived_from<Options, MachineOptions>)
      machine.threads = options.cpu_threads, quiet = options.quiet;
    if constexpr (std::derived_from<Options, DeviceOptions>) machine.device = options.devices[0];
    if constexpr (std::derived_from<Options, SharedWorkOptions>)
      processes = {true, options.processes, options.devices, options.comm_timeout};
    if constexpr (std::same_as<Options, TrainOptions>) processes.resumes = true, processes.log = options.log;
    machine.log = stderr_log(quiet);
    return run_on(std::move(machine), processes, bind_flags(table->flags, options),
                  [&](Engine& engine) { return body(engine, options); });
  };
  const auto defaults = std::make_shared<Options>();
  const auto common = std::make_shared<CommonOptions>();
  const auto options = [=] { return joined(bind_flags(table->flags, *defaults), bind_flags(common_flags(), *common)); };
  return {table->about, run, options};
}

/// Every subcommand, in the order of `dragoman --help`.
const std::vector<Command>& all_commands();

}  // namespace dragoman
