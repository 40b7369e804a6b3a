#pragma once
#include "options/flags.h"
#include "options/train_options.h"

namespace dragoman {

/// All options of `train`.
Table<TrainOptions> train_table();

/// The groups of train_table(), in the order of --help.
std::vector<Flag<TrainOptions>> file_flags();
std::vector<Flag<TrainOptions>> vocabulary_flags();
std::vector<Flag<TrainOptions>> model_flags();
std::vector<Flag<TrainOptions>> transformer_flags();
std::vector<Flag<TrainOptions>> position_flags();
std::vector<Flag<TrainOptions>> attention_flags();
std::vector<Flag<TrainOptions>> autoregression_flags();
std::vector<Flag<TrainOptions>> experts_flags();
std::vector<Flag<TrainOptions>> rnn_flags();
std::vector<Flag<TrainOptions>> dropout_flags();
std::vector<Flag<TrainOptions>> batch_flags();
std::vector<Flag<TrainOptions>> learning_rate_flags();
std::vector<Flag<TrainOptions>> optimizer_flags();
std::vector<Flag<TrainOptions>> validation_flags();
std::vector<Flag<TrainOptions>> run_flags();

/// Replaces the model's defaults by those of `options.task`.
void apply_task(TrainOptions& options);

/// Converts Marian's spellings to the corresponding members. Adds contradictions to the findings.
void check_train(TrainOptions& options, const Given& given, Findings& findings);

/// Warns of options without effect beside the others.
void warn_of_unused(const TrainOptions& options, const Given& given);

}  // namespace dragoman
