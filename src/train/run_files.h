#pragma once
#include <string>
#include <vector>

#include "train/options.h"

namespace dragoman {

/// "dir/model.safetensors" and "best-bleu" make "dir/model.best-bleu.safetensors".
std::string sibling(const std::string& model_path, const std::string& word);

/// The training state beside a model file.
std::string state_path(const std::string& model_path);

/// The lock of a model file, one for all links to it.
std::string lock_path(const std::string& model_path);

/// The file of --keep-last for an update.
std::string numbered_path(const std::string& model_path, int64_t update);

/// The file of --keep-best for a metric.
std::string best_path(const std::string& model_path, std::string_view metric);

/// A file that a run writes, and its name in messages: "--log-json", "the training state of --model".
struct RunFile {
  std::string what;
  std::string path;  // with {U} for the update and the other placeholders of filled_in()
};

/// All files that a run with these options may write.
std::vector<RunFile> files_of_run(const TrainingOptions& options);

}  // namespace dragoman
