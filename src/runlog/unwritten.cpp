#include "runlog/unwritten.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace dragoman {
namespace {

// Says the system, or a check of the disk before writing.
bool lacks_space(const std::string& failure) {
  const auto says = [&](const char* words) { return failure.find(words) != std::string::npos; };
  return says(std::strerror(ENOSPC)) || says(std::strerror(EDQUOT)) || says(" MiB free");
}

}  // namespace

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
              fmt::format("the model and its training state are saved; {} before the next run",
                          lacks_space(all) ? "free some space (df -h)" : "mend what the message names"));
}

}  // namespace dragoman
