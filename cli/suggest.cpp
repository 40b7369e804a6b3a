#include "cli/suggest.h"

#include "base/error.h"
#include "base/nearest.h"

namespace dragoman {
namespace {

// Options of Marian's training and decoding scripts for which there is no namesake here.
constexpr struct {
  std::string_view option, advice;
} marian[] = {
    {"after-batches", "--after 8000u ends a run after 8,000 updates"},
    {"after-epochs", "--after 10e ends a run after ten epochs"},
    {"cost-type", "training minimises cross-entropy a target piece; leave it out"},
    {"d", "this version runs on the CPU, with --cpu-threads threads; leave it out"},
    {"devices", "this version runs on the CPU, with --cpu-threads threads; leave it out"},
    {"log", "messages go to stderr: 2> FILE"},
    {"mini-batch-fit", "batches are as large as --mini-batch-words says; leave it out"},
    {"maxi-batch-sort", "sentences are always sorted by length; leave it out"},
    {"optimizer", "the optimizer is adam; leave it out"},
    {"shuffle-in-ram", "leave it out: shuffling writes no temporary files"},
    {"sync-sgd", "updates are always synchronous; leave it out"},
    {"valid-log", "validation is reported with the other messages, on stderr: 2> FILE"},
    {"valid-mini-batch", "validation chooses its batches itself; leave it out"},
    {"w", "memory is taken as it is needed; leave it out"},
    {"workspace", "memory is taken as it is needed; leave it out"},
};

}  // namespace

std::string did_you_mean(std::string_view word, const std::vector<std::string>& names, std::string_view prefix) {
  const std::string name = nearest(word, names);
  return name.empty() ? "" : fmt::format("did you mean {}{}?", prefix, name);
}

std::string advice_on(std::string_view option, const std::vector<std::string>& names, std::string_view prefix) {
  for (const auto& [name, advice] : marian)
    if (name == option) return std::string(advice);
  return did_you_mean(option, names, prefix);
}

}  // namespace dragoman
