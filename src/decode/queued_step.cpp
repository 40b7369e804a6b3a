#include "decode/queued_step.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "backend/backend.h"
#include "model/model.h"

namespace dragoman {
namespace {

// Moves the given rows, in ascending order, to the front.
Tensor only(const std::vector<int64_t>& rows, const Tensor& x) {
  if (!x || rows.empty()) return x;
  const int64_t bytes = x.bytes() / std::max<int64_t>(1, x.shape()[0]);
  auto* const data = static_cast<std::byte*>(x.data());
  for (size_t r = 0; r < rows.size(); ++r)
    std::memmove(data + int64_t(r) * bytes, data + rows[r] * bytes, size_t(bytes));
  return x.row_range(0, int64_t(rows.size()));
}

}  // namespace

QueuedStep::QueuedStep(const Context& cx, const Tensor& logits, int64_t best, bool with_lse)
    : cx_(cx),
      rows_(logits.rows()),
      pieces_(logits.cols()),
      best_(std::min(best, pieces_)),
      type_(logits.dtype()),
      with_lse_(with_lse) {
  constexpr int64_t most_padding = 5 * 16;
  const int64_t of_row =
      best_ * (size_of(type_) + size_of(DType::i32)) + size_of(stat_type(type_)) + 2 * size_of(DType::i32);
  bytes_ = cx.arena.allocate({rows_ * of_row + most_padding}, DType::u8);
  on_device_ = parts_of(bytes_);
  cx.backend.top_k(on_device_.top.scores, on_device_.top.ids, on_device_.top.lse, logits);
}

QueuedStep::Parts QueuedStep::parts_of(const Tensor& bytes) const {
  int64_t used = 0;
  const auto next = [&](Shape shape, DType type) {
    const Tensor part = bytes.from_bytes(used, shape, type);
    used += (part.bytes() + 15) / 16 * 16;
    return part;
  };
  Parts parts{.top = {.scores = next({rows_, best_}, type_), .ids = next({rows_, best_}, DType::i32)}};
  if (with_lse_) parts.top.lse = next({rows_}, stat_type(type_));
  parts.tokens = next({rows_}, DType::i32);
  parts.parents = next({rows_}, DType::i32);
  return parts;
}

bool QueuedStep::matches(std::span<const StepRow> rows) {
  row_of_.clear();
  size_t q = 0;
  for (size_t r = 0; r < rows.size(); ++r, ++q) {
    const StepRow& row = rows[r];
    if (r == 0 || row.sentence != rows[r - 1].sentence)  // the sentence before may have had more rows
      while (q < expected_.size() && expected_[q].sentence != row.sentence) ++q;
    if (q == expected_.size() || expected_[q] != row) return false;
    row_of_.push_back(int64_t(q));
  }
  return true;
}

void QueuedStep::choose(const AheadRequest& request, const AheadTables& tables) {
  std::vector<int32_t> step_first;
  for (size_t s = 0; s + 1 < request.first.size(); ++s) {
    const int32_t first = request.first[s];
    step_first.push_back(row_of_.empty() ? first : int32_t(row_of_[size_t(first)]));
  }
  const auto B = int64_t(step_first.size()), R = int64_t(request.log_probs.size()),
             F = int64_t(request.suppressed.size());
  const auto host = in_one_block({int_tensor(request.first, {B + 1}), int_tensor(std::move(step_first), {B}),
                                  int_tensor(request.compared, {B}), double_tensor(request.log_probs, {R}), tables.past,
                                  tables.length, int_tensor(request.suppressed, {F})});
  cx_.backend.next_rows(Backend::NextRows{.tokens = on_device_.tokens.row_range(0, R),
                                          .parents = on_device_.parents.row_range(0, R),
                                          .ids = tables.ids,
                                          .table = tables.table,
                                          .best = on_device_.top.ids,
                                          .scores = on_device_.top.scores,
                                          .lse = on_device_.top.lse,
                                          .first = host[0],
                                          .step_first = host[1],
                                          .compared = host[2],
                                          .log_probs = host[3],
                                          .past = host[4],
                                          .length = host[5],
                                          .suppressed = host[6],
                                          .end = request.end});
}

TopPieces QueuedStep::read(std::span<const StepRow> rows, std::vector<StepRow>* chosen) {
  if (!pending_) send();
  const Parts found = parts_of(std::exchange(pending_, {})());
  if (chosen)
    for (size_t r = 0; r < rows.size(); ++r)
      chosen->push_back({rows[r].sentence, found.parents.as<int32_t>()[r], found.tokens.as<int32_t>()[r]});
  return {only(row_of_, found.top.scores), only(row_of_, found.top.ids), only(row_of_, found.top.lse)};
}

}  // namespace dragoman
