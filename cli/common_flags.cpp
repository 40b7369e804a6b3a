#include "cli/command.h"

namespace dragoman {

const std::vector<Flag<CommonOptions>>& common_flags() {
  static const std::vector<Flag<CommonOptions>> flags = {
      {.name = "config",
       .letter = 'c',
       .field = &CommonOptions::config,
       .value = "FILE...",
       .group = common_group,
       .help = "YAML files of options, one 'name: value' per line; later files override earlier ones, the command line "
               "overrides all"},
      {.name = "dump-config",
       .field = &CommonOptions::dump_config,
       .value = "HOW",
       .group = common_group,
       .help = "print the options in effect as a YAML file and exit: full, or minimal (only those that differ from "
               "their defaults)",
       .implicit = "full"},
      {.name = "short-help",
       .letter = 'h',
       .field = &CommonOptions::short_help,
       .group = common_group,
       .help = "print the most important options and exit"},
      {.name = "help",
       .field = &CommonOptions::help,
       .value = "WORD",
       .group = common_group,
       .help = "print all options and exit; with a word, only those that mention it",
       .implicit = every_option},
      {.name = "version",
       .letter = 'V',
       .field = &CommonOptions::version,
       .group = common_group,
       .help = "print the versions of dragoman and its libraries and exit"},
  };
  return flags;
}

}  // namespace dragoman
