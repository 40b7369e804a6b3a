#include "train/run_files.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/log.h"
#include "base/symbolic_links.h"

namespace dragoman {

namespace fs = std::filesystem;

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

std::string best_path(const std::string& model_path, std::string_view metric, int64_t update) {
  return sibling(model_path, fmt::format("best-{}-update{}", metric, update));
}

std::map<int64_t, std::string> files_of_updates(const std::string& model_path, std::string_view metric) {
  const fs::path model(model_path), folder = model.has_parent_path() ? model.parent_path() : fs::path(".");
  const std::string after = model.extension().string();
  const std::string before =
      model.stem().string() + (metric.empty() ? ".update" : fmt::format(".best-{}-update", metric));
  std::map<int64_t, std::string> files;
  std::error_code failed;
  fs::directory_iterator file(folder, failed);
  for (; !failed && file != fs::directory_iterator(); file.increment(failed)) {
    const std::string name = file->path().filename().string();
    if (!name.starts_with(before) || !name.ends_with(after) || name.size() <= before.size() + after.size()) continue;
    const std::string digits = name.substr(before.size(), name.size() - before.size() - after.size());
    if (digits.size() >= 18 || digits.find_first_not_of("0123456789") != std::string::npos) continue;
    std::error_code unknown;
    if (file->is_regular_file(unknown))
      files.emplace(std::stoll(digits), file->path().string());
    else
      log_warning("{} is not a regular file, so it is not deleted as an older checkpoint", file->path().string());
  }
  if (failed) log_warning("{}: older checkpoints cannot be listed: {}", folder.string(), failed.message());
  return files;
}

std::string lock_path(const std::string& model_path) { return behind_link(model_path) + ".lock"; }

std::vector<RunFile> files_beside_model(const TrainingOptions& o) {
  std::vector<RunFile> files = {{"the training state of --model", state_path(o.model)},
                                {"the lock of --model", lock_path(o.model)}};
  if (o.keep_last > 0) files.push_back({"a numbered checkpoint of --model", sibling(o.model, "update{U}")});
  if (o.keep_best > 0)
    for (const ValidMetric metric : o.valid_metrics)
      files.push_back({"the best --model", best_path(o.model, name_of(metric))});
  if (o.keep_best > 1)
    files.push_back(
        {"one of the best --model", sibling(o.model, fmt::format("best-{}-update{{U}}", name_of(o.valid_metrics[0])))});
  return files;
}

}  // namespace dragoman
