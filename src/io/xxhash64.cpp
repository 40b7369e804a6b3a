#include "io/xxhash64.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace dragoman {
namespace {

static_assert(std::endian::native == std::endian::little, "model files are read in place and are little-endian");

constexpr uint64_t prime1 = 0x9E3779B185EBCA87, prime2 = 0xC2B2AE3D27D4EB4F, prime3 = 0x165667B19E3779F9,
                   prime4 = 0x85EBCA77C2B2AE63, prime5 = 0x27D4EB2F165667C5;

template <class T>
T load(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

uint64_t round_of(uint64_t lane, uint64_t input) { return std::rotl(lane + input * prime2, 31) * prime1; }

uint64_t converge(const uint64_t (&lanes)[4]) {
  uint64_t hash = std::rotl(lanes[0], 1) + std::rotl(lanes[1], 7) + std::rotl(lanes[2], 12) + std::rotl(lanes[3], 18);
  for (uint64_t lane : lanes) hash = (hash ^ round_of(0, lane)) * prime1 + prime4;
  return hash;
}

uint64_t avalanche(uint64_t hash) {
  hash = (hash ^ hash >> 33) * prime2;
  hash = (hash ^ hash >> 29) * prime3;
  return hash ^ hash >> 32;
}

}  // namespace

XxHash64::XxHash64() : lanes_{prime1 + prime2, prime2, 0, uint64_t{0} - prime1} {}

void XxHash64::consume(const std::byte* bytes) {
  for (int i = 0; i < 4; ++i) lanes_[i] = round_of(lanes_[i], load<uint64_t>(bytes + 8 * i));
}

void XxHash64::add(std::span<const std::byte> bytes) {
  const size_t waiting = total_ % stripe;
  total_ += bytes.size();
  if (waiting > 0) {
    const auto head = bytes.first(std::min(bytes.size(), stripe - waiting));
    std::ranges::copy(head, rest_ + waiting);
    if (waiting + head.size() < stripe) return;
    consume(rest_);
    bytes = bytes.subspan(head.size());
  }
  for (; bytes.size() >= stripe; bytes = bytes.subspan(stripe)) consume(bytes.data());
  std::ranges::copy(bytes, rest_);
}

uint64_t XxHash64::digest() const {
  uint64_t hash = (total_ >= stripe ? converge(lanes_) : prime5) + total_;
  const std::byte *at = rest_, *end = rest_ + total_ % stripe;
  for (; end - at >= 8; at += 8) hash = std::rotl(hash ^ round_of(0, load<uint64_t>(at)), 27) * prime1 + prime4;
  for (; end - at >= 4; at += 4) hash = std::rotl(hash ^ load<uint32_t>(at) * prime1, 23) * prime2 + prime3;
  for (; at < end; ++at) hash = std::rotl(hash ^ load<uint8_t>(at) * prime5, 11) * prime1;
  return avalanche(hash);
}

}  // namespace dragoman
