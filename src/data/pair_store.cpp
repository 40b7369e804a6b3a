#include "data/pair_store.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>

#include "base/error.h"

namespace dragoman {
namespace {

// A record is a sequence of numbers; its address is the index of the first. Most addresses are not stored but computed
// from the lengths of the few records before.
constexpr int64_t records_per_address = 16;

// 64 MiB. Reserved memory that has not been written takes none.
constexpr int64_t segment_numbers = int64_t{1} << 24;

// The address of a record that would begin at `address`, moved so that it lies within one segment.
int64_t address_of_record(int64_t address, int64_t size) {
  const int64_t in_segment = address % segment_numbers;
  return in_segment + size <= segment_numbers ? address : address - in_segment + segment_numbers;
}

int32_t packed(const TokenLink& link) { return int32_t(uint32_t(link.source) << 16 | uint32_t(link.target)); }
TokenLink unpacked(int32_t numbers) { return {int64_t(uint32_t(numbers) >> 16), int64_t(uint32_t(numbers) & 0xffff)}; }

}  // namespace

// The end of the file of a complete store, after the records, a gap of at most 4 bytes, the addresses, the lengths and
// the numbers of links.
struct PairStore::Footer {
  int64_t pairs, record_end, weighted, linked;
  std::array<int64_t, 2> tokens;
  double target_weight;

  int64_t begin_of_addresses() const { return (record_end + 1) / 2 * 2 * int64_t(sizeof(int32_t)); }
  int64_t addresses() const { return (pairs + records_per_address - 1) / records_per_address; }
};

void PairStore::add(const Pair& pair) {
  invariant(std::max({pair.source.size(), pair.target.size(), pair.links.size()}) <= longest,
            "pairs fit into a PairStore");
  invariant(linked_ || pair.links.empty(), "links are added to a store of links");
  const Lengths lengths = {uint16_t(pair.source.size()), uint16_t(pair.target.size())};
  added_ = {pair.line};
  if (weighted_) added_.push_back(std::bit_cast<int32_t>(pair.weight));
  added_.insert(added_.end(), pair.source.begin(), pair.source.end());
  added_.insert(added_.end(), pair.target.begin(), pair.target.end());
  std::ranges::transform(pair.links, std::back_inserter(added_), packed);
  const int64_t address = address_of_record(end_, int64_t(added_.size()));
  if (size() % records_per_address == 0) addresses_.push_back(address);
  append(address, added_);
  end_ = address + int64_t(added_.size());
  lengths_.push_back(lengths);
  if (linked_) links_.push_back(uint16_t(pair.links.size()));
  for (int side : {0, 1}) tokens_[side] += lengths[side];
  target_weight_ += double(pair.weight) * lengths[1];
}

void PairStore::append(int64_t address, std::span<const int32_t> record) {
  if (file_) {
    const std::vector<int32_t> gap(size_t(address - end_));  // at the end of a segment
    file_->append(std::as_bytes(std::span(gap)));
    file_->append(std::as_bytes(record));
    return;
  }
  if (address / segment_numbers == int64_t(segments_.size())) segments_.emplace_back().reserve(segment_numbers);
  segments_.back().insert(segments_.back().end(), record.begin(), record.end());
}

int64_t PairStore::address_of(int64_t i) const {
  const size_t at = size_t(i / records_per_address);
  int64_t address = mapped_ ? mapped_->addresses[at] : addresses_[at];
  for (int64_t before = i - i % records_per_address; before < i; ++before)
    address = address_of_record(address + record_size(before), record_size(before + 1));
  return address;
}

PairStore::Pair PairStore::operator[](int64_t i) const {
  const auto [source, target] = lengths(i);
  const int64_t address = address_of(i), size = record_size(i);
  Pair pair{};
  const int32_t* record;
  if (mapped_) {
    record = mapped_->records.data() + address;
  } else if (file_) {
    const auto read = std::make_shared<int32_t[]>(size_t(size));
    file_->read(address * int64_t(sizeof(int32_t)), std::as_writable_bytes(std::span(read.get(), size_t(size))));
    pair.record = read;
    record = read.get();
  } else {
    record = segments_[address / segment_numbers].data() + address % segment_numbers;
  }
  pair.line = *record++;
  if (weighted_) pair.weight = std::bit_cast<float>(*record++);
  pair.source = {record, source};
  pair.target = {record + source, target};
  const std::span stored(record + source + target, size_t(links(i)));
  std::ranges::transform(stored, std::back_inserter(pair.links), unpacked);
  return pair;
}

void PairStore::move_to_file(const std::string& folder) { move_to(std::make_shared<TemporaryFile>(folder)); }

void PairStore::move_to(std::shared_ptr<TemporaryFile> file) {
  file_ = std::move(file);
  for (auto& segment : segments_) {
    if (&segment != &segments_.back()) segment.resize(segment_numbers);
    file_->append(std::as_bytes(std::span(segment)));
    segment = {};
  }
  segments_.clear();
}

void PairStore::flush() {
  if (file_) file_->flush();
}

FileDescriptor PairStore::to_file() {
  if (!file_) move_to(std::make_shared<TemporaryFile>(TemporaryFile::InMemory{}));
  const Footer footer{size(), end_, weighted_, linked_, tokens_, target_weight_};
  const std::vector<int32_t> gap(size_t(end_ % 2));
  file_->append(std::as_bytes(std::span(gap)));
  file_->append(std::as_bytes(std::span(addresses_)));
  for (const Lengths& lengths : lengths_) file_->append(std::as_bytes(std::span(lengths)));
  for (const uint16_t& links : links_) file_->append(std::as_bytes(std::span(&links, 1)));
  file_->append(std::as_bytes(std::span(&footer, 1)));
  file_->flush();
  FileDescriptor file = file_->opened();
  *this = PairStore(bool(weighted_), bool(linked_));
  return file;
}

PairStore::PairStore(const FileDescriptor& file) {
  Mapped mapped{.file = MappedFile(file)};
  const std::byte* const bytes = mapped.file.data();
  Footer footer{};
  std::memcpy(&footer, bytes + mapped.file.size() - sizeof(Footer), sizeof(Footer));
  const auto* addresses = reinterpret_cast<const int64_t*>(bytes + footer.begin_of_addresses());
  const auto* lengths = reinterpret_cast<const Lengths*>(addresses + footer.addresses());
  mapped.records = {reinterpret_cast<const int32_t*>(bytes), size_t(footer.record_end)};
  mapped.addresses = {addresses, size_t(footer.addresses())};
  mapped.lengths = {lengths, size_t(footer.pairs)};
  weighted_ = footer.weighted != 0;
  linked_ = footer.linked != 0;
  if (linked_) mapped.links = {reinterpret_cast<const uint16_t*>(lengths + footer.pairs), size_t(footer.pairs)};
  end_ = footer.record_end;
  tokens_ = footer.tokens;
  target_weight_ = footer.target_weight;
  mapped_ = std::make_shared<const Mapped>(std::move(mapped));
}

int64_t PairStore::memory() const {
  const int64_t addresses = (size() + records_per_address - 1) / records_per_address;
  const int64_t tables =
      size() * int64_t(sizeof(Lengths) + linked_ * sizeof(uint16_t)) + addresses * int64_t(sizeof(int64_t));
  return tables + (file_ ? 0 : record_bytes());
}

}  // namespace dragoman
