#pragma once
#include "options/flags.h"
#include "options/overwriting.h"

namespace dragoman {

/// The files that these options name, as their rows say (FileUse), in the order of the rows.
CommandFiles files_of(const std::vector<Option>& options);

/// All files of a command with these options.
template <class Options>
CommandFiles files_of(const Table<Options>& table, Options options) {
  CommandFiles files = files_of(bind_flags(table.flags, options));
  if (table.files) table.files(options, files);
  return files;
}

/// Table::files of a command that prints to stdout and has no --output.
template <class Options>
void prints(const Options&, CommandFiles& files) {
  files.written.push_back({"stdout", {"-"}});
}

}  // namespace dragoman
