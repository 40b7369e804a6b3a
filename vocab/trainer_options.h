#pragma once
#include <map>
#include <string>
#include <string_view>

namespace dragoman {

/// Options of SentencePiece's trainer by their names there, without dashes. Switches are "true" or "false".
using TrainerOptions = std::map<std::string, std::string>;

/// Reads --sentencepiece-options: "--split_digits --max_sentencepiece_length=20". Error for options that the trainer
/// does not have or that dragoman sets, whose hint names what sets them, and for values out of the trainer's bounds.
TrainerOptions trainer_options(std::string_view words);

/// Whether a vocabulary that is learned with them may have fewer pieces than its size says.
bool have_soft_limit(const TrainerOptions& options);

}  // namespace dragoman
