#include "data/id_pairs.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace dragoman {
namespace {

struct Side {
  std::vector<int32_t> ids, lengths;

  void append(const std::vector<int32_t>& sentence) {
    ids.insert(ids.end(), sentence.begin(), sentence.end());
    lengths.push_back(int32_t(sentence.size()));
  }
  bool has_room(const std::vector<int32_t>& sentence, int64_t limit) const {
    return int64_t(ids.size() + sentence.size()) <= limit;
  }
  PackedIds packed() { return {std::move(ids), Spans::of_lengths(lengths)}; }
};

std::vector<size_t> order_by_length(std::span<const IdPair> pairs) {
  std::vector<size_t> order(pairs.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::pair(pairs[a].target.size(), pairs[a].source.size()) <
           std::pair(pairs[b].target.size(), pairs[b].source.size());
  });
  return order;
}

// The first pairs of `order` that fit into one batch; at least one.
Batch first_batch(std::span<const IdPair> pairs, std::span<const size_t> order, int64_t batch_words) {
  Side source, target;
  size_t count = 0;
  for (; count < order.size(); ++count) {
    const IdPair& pair = pairs[order[count]];
    if (count > 0 && !(source.has_room(pair.source, batch_words) && target.has_room(pair.target, batch_words))) break;
    source.append(pair.source);
    target.append(pair.target);
  }
  return {source.packed(), target.packed(), std::vector<int32_t>(count, 0)};
}

}  // namespace

bool crop(std::vector<int32_t>& source, std::vector<int32_t>& target, std::vector<TokenLink>& links, int64_t most) {
  const std::array pieces = {std::ssize(source), std::ssize(target)};
  if (std::ranges::max(pieces) <= most) return false;
  for (auto* ids : {&source, &target}) ids->resize(std::min(ids->size(), size_t(most)));
  // The index of a token in what is left, or -1.
  const auto moved = [most](int64_t token, int64_t of_end) {
    if (token == of_end) return std::min(of_end, most);
    return token < most ? token : -1;
  };
  for (TokenLink& link : links) link = {moved(link.source, pieces[0]), moved(link.target, pieces[1])};
  std::erase_if(links, [](const TokenLink& link) { return link.source < 0 || link.target < 0; });
  return true;
}

PairBatches::PairBatches(std::span<const IdPair> pairs, int64_t batch_words)
    : pairs_(pairs), batch_words_(batch_words), order_(order_by_length(pairs)), rest_(order_) {}

Batch PairBatches::next(std::span<const size_t>& numbers) {
  Batch batch = first_batch(pairs_, rest_, batch_words_);
  const auto count = size_t(batch.target.spans.sentences());
  numbers = rest_.first(count);
  rest_ = rest_.subspan(count);
  return batch;
}

void for_each_batch(std::span<const IdPair> pairs, int64_t batch_words,
                    const std::function<void(const Batch&, std::span<const size_t>)>& f) {
  PairBatches batches(pairs, batch_words);
  while (!batches.at_end()) {
    std::span<const size_t> numbers;
    const Batch batch = batches.next(numbers);
    f(batch, numbers);
  }
}

}  // namespace dragoman
