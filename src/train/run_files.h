#pragma once
#include <map>
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

/// The file of --keep-best N for a metric and an update.
std::string best_path(const std::string& model_path, std::string_view metric, int64_t update);

/// The regular files whose names are those of best_path() for some update, or of numbered_path() if there is no metric.
/// Logs a warning if the folder cannot be listed or an entry of such a name is not a regular file.
std::map<int64_t, std::string> files_of_updates(const std::string& model_path, std::string_view metric = "");

/// A file that a run writes, and its name in messages: "the training state of --model".
struct RunFile {
  std::string what;
  std::string path;  // with {U} for the update and the other placeholders of filled_in()
};

/// The files that a run with these options may write beside its model.
std::vector<RunFile> files_beside_model(const TrainingOptions& options);

}  // namespace dragoman
