#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "cli/options.h"

namespace dragoman {

/// An option, as messages call it, and its files; "-" is stdin or stdout, an empty name is no file. {U}, {E}, {B} and
/// {T} in the names of written files stand for numbers.
struct NamedFiles {
  std::string what;
  std::vector<std::string> files;
};

/// All files that a command reads and writes.
struct CommandFiles {
  std::vector<NamedFiles> read, written;
};

CommandFiles files_of(const TrainOptions& options);
CommandFiles files_of(const DataCommandOptions& options);
CommandFiles files_of(const PlotOptions& options);
CommandFiles files_of(const TranslateCommandOptions& options);
CommandFiles files_of(const ScoreOptions& options);
CommandFiles files_of(const ExplainOptions& options);
CommandFiles files_of(const AlignOptions& options);
CommandFiles files_of(const AverageOptions& options);
CommandFiles files_of(const QuantizeOptions& options);
CommandFiles files_of(const VocabOptions& options);
CommandFiles files_of(const EvaluateOptions& options);
CommandFiles files_of(const InspectOptions& options);
CommandFiles files_of(const CompletionOptions& options);

/// Throws Error if a file to be written is also read, or written for another purpose, whatever its names: one of the
/// two would be lost. Devices and pipes are exempt. Call before anything is opened.
void refuse_overwriting(const CommandFiles& files);

}  // namespace dragoman
