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

int32_t DecodedPast::row_in(const Sentence& sentence, int64_t step, int position) {
  return int32_t(sentence.pages[size_t(step / page_steps)] + step % page_steps * sentence.width + position);
}

int32_t DecodedPast::row_of(Sentence& sentence, int64_t step, int position) {
  invariant(position < sentence.width, "a sentence has no more rows than it announced");
  if (step / page_steps >= int64_t(sentence.pages.size()))
    sentence.pages.push_back(cache_.take(int64_t{page_steps} * sentence.width));
  return row_in(sentence, step, position);
}

std::vector<int32_t> DecodedPast::rows_of(const DecodedTokens& hypothesis) const {
  const Sentence& sentence = sentences_.at(hypothesis.sentence);
  std::vector<int32_t> rows;
  for (const int32_t row : hypothesis.rows) rows.push_back(row_in(sentence, std::ssize(rows), row));
  return rows;
}

// Adds the cache row of each row's own token to those of the tokens before it, before(r, sentence).
template <class F>
DecodedPast::Histories DecodedPast::extended(std::span<const StepRow> rows, const F& before) {
  Histories next;
  std::vector<Sentence*> sentences;
  for (size_t r = 0; r < rows.size(); ++r) {
    const bool same = r > 0 && rows[r].sentence == rows[r - 1].sentence;
    sentences.push_back(same ? sentences.back() : &sentences_.at(rows[r].sentence));
    next.lengths.push_back(int32_t(before(r, *sentences[r]).size()) + 1);
    next.longest = std::max<int64_t>(next.longest, next.lengths[r]);
  }
  next.table.resize(rows.size() * size_t(next.longest));
  int position = 0;  // of a row within its sentence
  for (size_t r = 0; r < rows.size(); ++r) {
    Sentence& sentence = *sentences[r];
    position = r > 0 && sentences[r] == sentences[r - 1] ? position + 1 : 0;
    const auto past = before(r, sentence);
    auto* const own = std::ranges::copy(past, &next.table[r * size_t(next.longest)]).out;
    *own = row_of(sentence, int64_t(past.size() - sentence.prefix.size()), position);
  }
  return next;
}

void DecodedPast::follow(std::span<const StepRow> rows) {
  next_ = extended(rows, [&](size_t r, const Sentence& sentence) {
    return rows[r].parent >= 0 ? last_[size_t(rows[r].parent)] : std::span<const int32_t>(sentence.prefix);
  });
}

DecodedPast::Step DecodedPast::tables_of(const Histories& histories) {
  const auto R = int64_t(histories.lengths.size());
  Step step{.keys = {.length = int_tensor(histories.lengths, {R}),
                     .table = int_tensor(histories.table, {R, histories.longest})},
            .longest = histories.longest};
  std::vector<int32_t> cached;
  for (size_t r = 0; r < histories.lengths.size(); ++r) {
    cached.push_back(histories[r].back());
    step.token.push_back(histories.lengths[r] - 1);
  }
  step.cached = int_tensor(std::move(cached), {R});
  return step;
}

DecodedPast::Step DecodedPast::step(std::span<const StepRow> rows) {
  follow(rows);
  return tables_of(next_);
}

DecodedPast::Step DecodedPast::ahead(std::span<const StepRow> rows) {
  return tables_of(extended(rows, [&](size_t r, const Sentence&) { return next_[r]; }));
}

}  // namespace dragoman
