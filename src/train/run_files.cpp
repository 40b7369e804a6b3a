#include "train/run_files.h"

#include <filesystem>

#include "base/symbolic_links.h"

namespace dragoman {

std::string sibling(const std::string& model_path, const std::string& word) {
  const std::filesystem::path path(model_path);
  return (path.parent_path() / (path.stem().string() + "." + word + path.extension().string())).string();
}

std::string state_path(const std::string& model_path) { return sibling(model_path, "state"); }

std::string numbered_path(const std::string& model_path, int64_t update) {
  return sibling(model_path, "update" + std::to_string(update));
}

std::string best_path(const std::string& model_path, std::string_view metric) {
  return sibling(model_path, "best-" + std::string(metric));
}

std::string lock_path(const std::string& model_path) { return behind_link(model_path) + ".lock"; }

std::vector<RunFile> files_of_run(const TrainingOptions& o) {
  std::vector<RunFile> files = {{"--model", o.model},
                                {"the training state of --model", state_path(o.model)},
                                {"the lock of --model", lock_path(o.model)}};
  if (o.keep_last > 0) files.push_back({"a numbered checkpoint of --model", sibling(o.model, "update{U}")});
  if (o.keep_best)
    for (const ValidMetric metric : o.valid_metrics)
      files.push_back({"the best --model", best_path(o.model, name_of(metric))});
  files.push_back({"--log-json", o.log_json});
  files.push_back({"--tensorboard", o.tensorboard});
  files.push_back({"--log", o.log});
  files.push_back({"--valid-log", o.valid_log});
  files.push_back({"--valid-translation-output", o.valid_translation_output});
  return files;
}

}  // namespace dragoman
