#include "model/held_rows.h"

#include <algorithm>

namespace dragoman {

Tensor HeldRows::add(int first, const Spans& spans) {
  std::vector<int32_t> rows;
  for (int s = 0; s < spans.sentences(); ++s) {
    const int64_t count = spans[s].end - spans[s].begin, begin = count > 0 ? cache_.take(count) : 0;
    held_.emplace(first + s, Range{begin, begin + count});
    for (int64_t row = begin; row < begin + count; ++row) rows.push_back(int32_t(row));
  }
  return int_tensor(std::move(rows), {spans.rows()});
}

void HeldRows::remove(int sentence) {
  const auto found = held_.find(sentence);
  if (found == held_.end()) return;
  const Range rows = found->second;
  if (rows.begin < rows.end) cache_.give_back(rows.begin, rows.end - rows.begin);
  held_.erase(found);
}

HeldRows::Step HeldRows::step(std::span<const StepRow> rows) const {
  const auto R = int64_t(rows.size());
  Step step;
  std::vector<int32_t> lengths, begins;
  Range held{0, 0};
  for (size_t r = 0; r < rows.size(); ++r) {
    if (r == 0 || rows[r].sentence != rows[r - 1].sentence) held = held_.at(rows[r].sentence);
    begins.push_back(int32_t(held.begin));
    lengths.push_back(int32_t(held.end - held.begin));
    step.longest = std::max(step.longest, held.end - held.begin);
  }
  step.keys = {.length = int_tensor(std::move(lengths), {R}), .begin = int_tensor(std::move(begins), {R})};
  return step;
}

}  // namespace dragoman
