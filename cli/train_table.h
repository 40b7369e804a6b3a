#pragma once
#include "cli/tables.h"

namespace dragoman {

/// The parts of train_table(), a function a group of --help, in the order shown.
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

/// Writes the sizes that `options.task` names over the defaults of the model.
void apply_task(TrainOptions& options);

/// Turns Marian's spellings into the members they mean, and throws Error for options that contradict each other.
void check_train(TrainOptions& options, const Given& given);

}  // namespace dragoman
