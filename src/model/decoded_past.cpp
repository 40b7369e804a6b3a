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

std::vector<DecodedPast::History> DecodedPast::histories_before(std::span<const StepRow> rows) const {
  std::vector<History> histories;
  for (const StepRow& row : rows)
    histories.push_back(row.parent >= 0 ? history_[size_t(row.parent)] : sentences_.at(row.sentence).prefix);
  return histories;
}

// Adds the cache row of each row's own token.
std::vector<DecodedPast::History> DecodedPast::extended(std::span<const StepRow> rows, std::vector<History> histories) {
  int position = 0;  // of a row within its sentence
  for (size_t r = 0; r < rows.size(); ++r) {
    Sentence& sentence = sentences_.at(rows[r].sentence);
    position = r > 0 && rows[r].sentence == rows[r - 1].sentence ? position + 1 : 0;
    const auto step = int64_t(histories[r].size() - sentence.prefix.size());
    histories[r].push_back(row_of(sentence, step, position));
  }
  return histories;
}

DecodedPast::Step DecodedPast::tables_of(const std::vector<History>& histories) {
  const auto R = int64_t(histories.size());
  std::vector<int32_t> cached, lengths;
  Step step;
  for (const History& history : histories) {
    const auto length = int64_t(history.size());
    cached.push_back(history.back());
    lengths.push_back(int32_t(length));
    step.token.push_back(length - 1);
    step.longest = std::max(step.longest, length);
  }
  std::vector<int32_t> table(size_t(R * step.longest));
  for (int64_t r = 0; r < R; ++r) std::ranges::copy(histories[size_t(r)], table.begin() + r * step.longest);
  step.cached = int_tensor(std::move(cached), {R});
  step.keys = {.length = int_tensor(std::move(lengths), {R}), .table = int_tensor(std::move(table), {R, step.longest})};
  return step;
}

DecodedPast::Step DecodedPast::step(std::span<const StepRow> rows) {
  follow(rows);
  return tables_of(next_);
}

}  // namespace dragoman
