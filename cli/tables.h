#pragma once
#include "cli/flags.h"
#include "cli/options.h"

namespace dragoman {

/// The options of each subcommand, one file per table. To add an option, add a member to the options struct and a row
/// to the table.
Table<TrainOptions> train_table();
Table<DataCommandOptions> data_table();
Table<PlotOptions> plot_table();
Table<TranslateCommandOptions> translate_table();
Table<ScoreOptions> score_table();
Table<ExplainOptions> explain_table();
Table<AlignOptions> align_table();
Table<AverageOptions> average_table();
Table<QuantizeOptions> quantize_table();
Table<VocabOptions> vocab_table();
Table<EvaluateOptions> evaluate_table();
Table<InspectOptions> inspect_table();
Table<CompletionOptions> completion_table();

/// Adds a problem unless `files` is empty or {source, target}, of which at most one is stdin.
void check_pair(std::string_view option, const std::vector<std::string>& files, Findings& findings);

}  // namespace dragoman
