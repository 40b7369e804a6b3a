#include "model/decoded_past.h"

#include <algorithm>

namespace dragoman {
namespace {

constexpr int page_steps = 16;  // steps of a sentence in one page

}  // namespace

void DecodedPast::add(int sentence, int width, std::vector<int32_t> prefix) {
  sentences_.emplace(sentence, Sentence{width, std::move(prefix), {}});
}

void DecodedPast::remove(int handle) {
  const auto found = sentences_.find(handle);
  if (found == sentences_.end()) return;
  const Sentence& sentence = found->second;
  for (int64_t page : sentence.pages) cache_.give_back(page, int64_t{page_steps} * sentence.width);
  sentences_.erase(found);
}

int32_t DecodedPast::row_of(Sentence& sentence, int64_t step, int position) {
  invariant(position < sentence.width, "a sentence has no more rows than it announced");
  if (step / page_steps >= int64_t(sentence.pages.size()))
    sentence.pages.push_back(cache_.take(int64_t{page_steps} * sentence.width));
  return int32_t(sentence.pages[step / page_steps] + step % page_steps * sentence.width + position);
}

DecodedPast::Step DecodedPast::step(std::span<const StepRow> rows) {
  const auto R = int64_t(rows.size());
  next_.assign(size_t(R), {});
  std::vector<int32_t> cached, lengths;
  Step step;
  int position = 0;  // of a row within its sentence
  for (int64_t r = 0; r < R; ++r) {
    Sentence& sentence = sentences_.at(rows[r].sentence);
    position = r > 0 && rows[r].sentence == rows[r - 1].sentence ? position + 1 : 0;
    next_[r] = rows[r].parent >= 0 ? history_[rows[r].parent] : sentence.prefix;
    const auto t = int64_t(next_[r].size());
    step.token.push_back(t);
    cached.push_back(row_of(sentence, t - int64_t(sentence.prefix.size()), position));
    next_[r].push_back(cached.back());
    lengths.push_back(int32_t(t + 1));
    step.longest = std::max(step.longest, t + 1);
  }
  std::vector<int32_t> table(R * step.longest);
  for (int64_t r = 0; r < R; ++r) std::copy(next_[r].begin(), next_[r].end(), table.begin() + r * step.longest);
  step.cached = int_tensor(std::move(cached), {R});
  step.keys = {.length = int_tensor(std::move(lengths), {R}), .table = int_tensor(std::move(table), {R, step.longest})};
  return step;
}

}  // namespace dragoman
