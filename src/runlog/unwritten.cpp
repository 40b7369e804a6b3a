#include "runlog/unwritten.h"

#include <algorithm>

#include "base/error.h"

namespace dragoman {

void Unwritten::add(const std::string& output, const std::string& failure) {
  const bool known = std::ranges::any_of(failures_, [&](const auto& f) { return f.first == output; });
  if (!known) failures_.emplace_back(output, failure);
}

void Unwritten::forget(const std::string& output) {
  std::erase_if(failures_, [&](const auto& f) { return f.first == output; });
}

void Unwritten::require_none() const {
  if (failures_.empty()) return;
  std::string all;
  for (const auto& [output, failure] : failures_)
    all += fmt::format("{}{}: {}", all.empty() ? "" : "; ", output, failure);
  throw Error("not all output of the run was written: " + all,
              "the model and its training state are saved; free some space (df -h) before the next run");
}

}  // namespace dragoman
