#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command_files.h"
#include "cli/flags.h"
#include "cli/help.h"
#include "cli/parse.h"
#include "cli/stderr_log.h"
#include "cli/version.h"
#include "dragoman/engine.h"

namespace dragoman {

enum class Dump { none, minimal, full };

inline std::span<const EnumName<Dump>> enum_names(Dump) {
  static constexpr EnumName<Dump> names[] = {{Dump::none, "none"}, {Dump::minimal, "minimal"}, {Dump::full, "full"}};
  return names;
}

constexpr std::string_view common_group = "General";

/// Options that every subcommand has besides its own; they are no keys of a configuration file.
struct CommonOptions {
  bool help = false;
  bool version = false;
  std::vector<std::string> config;
  Dump dump_config = Dump::none;
};

const std::vector<Flag<CommonOptions>>& common_flags();

/// Fills `options`: its defaults, then the preset, the configuration files in their order and the command line, each
/// over the one before; then checks. Returns what is to be printed in place of running, if --help, --version or
/// --dump-config asked for that; with the first two nothing is checked. `configs` becomes the configuration files.
template <class Options>
std::optional<std::string> parse(const Table<Options>& table, const Strings& arguments, Options& options,
                                 Strings* configs = nullptr) {
  CommonOptions common;
  std::vector<Option> own = bind_flags(table.flags, options), shared = bind_flags(common_flags(), common);
  const Assignments line = read_command_line(arguments, joined(own, shared), table.about);
  assign(line, shared);
  if (common.help) return help_page(table.about, joined(own, shared));
  if (common.version) return version_page();

  const Assignments all = with_configs(common.config, own, line);
  if (table.preset) {
    assign_only(table.preset_flag, all, own);
    table.preset(options);
    for (Option& option : own)  // what it set is no wish of the user
      if (option.name != table.preset_flag) {
        option.preset = option.show() != option.standard;
        option.standard = option.show();
      }
  }
  assign(all, own);
  if (table.inherit) table.inherit(options, own);
  if (table.check) table.check(options, Given(own));
  if (common.dump_config != Dump::none) return to_yaml(own, common.dump_config == Dump::full);
  require_all(own);
  if (configs) *configs = common.config;
  return std::nullopt;
}

/// A subcommand whatever its options: a row in the table of main().
struct Command {
  About about;
  std::function<int(const Strings& arguments)> run;
  std::function<std::vector<Option>()> options;  // its own and the common ones at their defaults, for docs/options.md
};

/// Writes a page to stdout; BrokenPipe when nobody reads it.
void print_page(const std::string& page);

/// Calls f with the engine of a command.
int run_on(EngineOptions options, const std::function<int(Engine&)>& f);

/// Joins a table with the function that does the work. What several subcommands have is put into effect here:
/// which files are not written over, how much is logged and how many threads there are.
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
    CommandFiles files = files_of(options);
    files.read.push_back({"--config", configs});
    refuse_overwriting(files);
    EngineOptions machine;
    bool quiet = false;
    if constexpr (requires { options.devices[0].c_str(); }) machine.device = options.devices[0];
    if constexpr (requires { options.cpu_threads; }) machine.threads = options.cpu_threads;
    if constexpr (requires { options.quiet; }) quiet = options.quiet;
    machine.log = stderr_log(quiet);
    return run_on(std::move(machine), [&](Engine& engine) { return body(engine, options); });
  };
  const auto defaults = std::make_shared<Options>();
  const auto common = std::make_shared<CommonOptions>();
  const auto options = [=] { return joined(bind_flags(table->flags, *defaults), bind_flags(common_flags(), *common)); };
  return {table->about, run, options};
}

/// Every subcommand, in the order of `dragoman --help`.
const std::vector<Command>& all_commands();

}  // namespace dragoman
