#include "cli/suggest.h"

#include <algorithm>

#include "base/error.h"

namespace dragoman {
namespace {

// Restricted Damerau-Levenshtein distance (Boytsov 2011, section 2.1), three rows at a time.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) now[j] = std::min(now[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, now);
  }
  return last[b.size()];
}

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

std::string nearest(std::string_view word, const std::vector<std::string>& names) {
  std::string best;
  size_t least = std::max<size_t>(1, word.size() / 3) + 1;
  for (const std::string& name : names) {
    const size_t d = word.size() > 2 && (name.starts_with(word) || name.ends_with(word)) ? 1 : distance(word, name);
    if (d >= least) continue;
    least = d;
    best = name;
  }
  return best;
}

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
