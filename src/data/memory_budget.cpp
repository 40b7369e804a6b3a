#include "data/memory_budget.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/grouped.h"
#include "comm/machine_ranks.h"

namespace dragoman {
namespace {

std::string size_in_words(int64_t bytes) {
  const bool small = bytes < 1 << 20;
  return fmt::format("{:.1f} {}", double(bytes) / (small ? 1 << 10 : 1 << 20), small ? "KiB" : "MiB");
}

// An amount for --ram of at least these bytes.
std::string memory_of(double bytes) {
  const int64_t unit = bytes < double(16 << 20) ? 1 << 10 : 1 << 20;
  return to_string(MemorySize{int64_t(std::ceil(bytes / double(unit))) * unit});
}

// What to do if the lines read so far, `share` of the text (-1: unknown), need too many bytes. Skipped lines count too:
// plans have room for them.
std::string advice(int64_t needed, const Corpus& corpus, double share) {
  const int64_t lines = corpus.report.lines, per_line = (needed + lines - 1) / lines;
  if (corpus.files.stream) share = double(lines) / double(corpus.files.stream->part_lines);
  if (share <= 0) return fmt::format("raise it to at least {} bytes for each line", per_line);
  return fmt::format("raise it to {}{}, {} bytes for each line", share < 1 ? "about " : "",
                     memory_of(double(needed) / share), per_line);
}

void move_to_file(Corpus& corpus, double share) {
  const auto current = double(corpus.pairs.record_bytes());
  const auto all = int64_t(share > 0 ? current / share : current);
  const std::string& folder = corpus.files.tempdir;
  if (const int64_t available = free_space_in(folder); all > available)
    throw Error(fmt::format("--tempdir {} has {} free, the encoded text needs about {}", folder,
                            size_in_words(available), size_in_words(all)),
                "free some space (df -h), name a folder on another disk, or raise --ram");
  corpus.pairs.move_to_file(folder);
}

}  // namespace

void MemoryBudget::keep(Corpus& corpus, double planned, double share) {
  planned_ += planned;
  if (!fits(corpus) && !corpus.pairs.in_file()) move_to_file(corpus, share);
  if (fits(corpus)) return;
  throw Error(
      fmt::format("--ram {} is too little: the lengths and order of {} pairs alone take {}",
                  to_string(MemorySize{corpus.files.ram}), grouped(corpus.size()), size_in_words(needed(corpus))),
      advice(needed(corpus), corpus, share));
}

int64_t MemoryBudget::needed(const Corpus& corpus) const {
  const bool copies = std::ranges::any_of(corpus.files.weights, [](double weight) { return weight > 1; });
  const double of_plans = 2 * (sizeof(int32_t) + (copies ? sizeof(uint16_t) : 0));
  const int plans = corpus.files.machine ? corpus.files.machine->size() : 1;
  return (corpus.files.sampled() || corpus.files.stream ? 3 : 1) * corpus.pairs.memory() +
         int64_t(planned_ * of_plans * plans);
}

bool MemoryBudget::fits(const Corpus& corpus) const {
  return corpus.files.ram == 0 || needed(corpus) <= corpus.files.ram;
}

}  // namespace dragoman
