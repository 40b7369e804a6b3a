#include "data/pair_store.h"

#include <algorithm>
#include <bit>

#include "base/error.h"

namespace dragoman {
namespace {

// Records are numbers in a row, addressed by the first of them. Most addresses are not kept but found from the lengths
// of the few records before.
constexpr int64_t records_per_address = 16;

// 64 MiB. The system gives memory for what has been written, not for what is reserved.
constexpr int64_t segment_numbers = int64_t{1} << 24;

// Where a record goes that should begin at `address`: it lies within one segment.
int64_t place(int64_t address, int64_t size) {
  const int64_t in_segment = address % segment_numbers;
  return in_segment + size <= segment_numbers ? address : address - in_segment + segment_numbers;
}

}  // namespace

void PairStore::add(const Pair& pair) {
  invariant(std::max(pair.source.size(), pair.target.size()) <= longest, "sentences fit into a PairStore");
  const Lengths lengths = {uint16_t(pair.source.size()), uint16_t(pair.target.size())};
  const int64_t begin = place(end_, record_size(lengths));
  if (size() % records_per_address == 0) addresses_.push_back(begin);
  if (begin / segment_numbers == int64_t(segments_.size())) segments_.emplace_back().reserve(segment_numbers);
  auto& segment = segments_.back();
  segment.push_back(pair.line);
  if (weighted_) segment.push_back(std::bit_cast<int32_t>(pair.weight));
  segment.insert(segment.end(), pair.source.begin(), pair.source.end());
  segment.insert(segment.end(), pair.target.begin(), pair.target.end());
  end_ = begin + record_size(lengths);
  lengths_.push_back(lengths);
  for (int side : {0, 1}) tokens_[side] += lengths[side];
}

PairStore::Pair PairStore::operator[](int64_t i) const {
  int64_t address = addresses_[i / records_per_address];
  for (int64_t before = i - i % records_per_address; before < i; ++before)
    address = place(address + record_size(lengths_[before]), record_size(lengths_[before + 1]));
  const int32_t* record = segments_[address / segment_numbers].data() + address % segment_numbers;
  const auto [source, target] = lengths_[i];
  const int32_t *ids = record + 1 + weighted_, line = record[0];
  return {line, {ids, source}, {ids + source, target}, weighted_ ? std::bit_cast<float>(record[1]) : 1.0f};
}

}  // namespace dragoman
