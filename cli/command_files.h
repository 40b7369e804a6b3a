#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "cli/options.h"

namespace dragoman {

/// An option, as messages call it, and the files that it names; "-" is stdin or stdout, an empty name none. {U}, {E},
/// {B} and {T} in the name of what is written stand for numbers.
struct NamedFiles {
  std::string what;
  std::vector<std::string> files;
};

/// All files that a call of a command reads and writes.
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

/// Throws Error where a file that is to be written is also one that is read, or written for another reason, under
/// whatever name: what one of the two needs would be lost. Devices and pipes may have any number of names. To be called
/// before anything is opened.
void refuse_overwriting(const CommandFiles& files);

}  // namespace dragoman
