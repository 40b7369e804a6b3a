#include "cli/command.h"

namespace dragoman {

const std::vector<Flag<CommonOptions>>& common_flags() {
  static const std::vector<Flag<CommonOptions>> flags = {
      {.name = "config",
       .letter = 'c',
       .field = &CommonOptions::config,
       .value = "FILE...",
       .group = common_group,
       .help = "YAML files of options, 'name: value' a line; later files win, the command line wins over all"},
      {.name = "dump-config",
       .field = &CommonOptions::dump_config,
       .value = "HOW",
       .group = common_group,
       .help = "print the options in effect as such a file and end: full, or minimal for what is no default",
       .implicit = "full"},
      {.name = "short-help",
       .letter = 'h',
       .field = &CommonOptions::short_help,
       .group = common_group,
       .help = "print the options that matter most and end"},
      {.name = "help",
       .field = &CommonOptions::help,
       .value = "WORD",
       .group = common_group,
       .help = "print all options and end; with a word those whose name or meaning has it",
       .implicit = every_option},
      {.name = "version",
       .letter = 'V',
       .field = &CommonOptions::version,
       .group = common_group,
       .help = "print the version and those of the libraries, and end"},
  };
  return flags;
}

}  // namespace dragoman
