#include "metrics/random.h"

#include <array>
#include <bit>

namespace dragoman {
namespace {

constexpr int pool_words = 4;

// NumPy's SeedSequence (O'Neill's randutils::seed_seq_fe128): mixes the bits of a seed into a pool and generates from
// it.
class SeedSequence {
 public:
  explicit SeedSequence(uint64_t seed) : pool_{uint32_t(seed), uint32_t(seed >> 32), 0, 0} {
    for (uint32_t& word : pool_) word = hashed_in(word);
    for (int from = 0; from < pool_words; ++from)
      for (int to = 0; to < pool_words; ++to)
        if (from != to) pool_[to] = mixed(pool_[to], hashed_in(pool_[from]));
  }

  uint64_t next() {
    const uint64_t low = hashed_out();
    return low | uint64_t(hashed_out()) << 32;
  }

 private:
  static uint32_t folded(uint32_t value) { return value ^ value >> 16; }
  static uint32_t mixed(uint32_t a, uint32_t b) { return folded(0xca01f9dd * a - 0x4973f715 * b); }

  uint32_t hashed_in(uint32_t value) {
    value ^= in_;
    in_ *= 0x931e8875;
    return folded(value * in_);
  }
  uint32_t hashed_out() {
    const uint32_t value = pool_[drawn_++ % pool_words] ^ out_;
    out_ *= 0x58f38ded;
    return folded(value * out_);
  }

  std::array<uint32_t, pool_words> pool_;
  uint32_t in_ = 0x43b0d7e5, out_ = 0x8b51f9dd;
  int drawn_ = 0;
};

}  // namespace

NumpyRandom::NumpyRandom(uint64_t seed) {
  SeedSequence words(seed);
  const auto wide = [&] {
    const State high = words.next();
    return high << 64 | words.next();
  };
  const State start = wide();
  increment_ = wide() << 1 | 1;
  step();
  state_ += start;
  step();
}

void NumpyRandom::step() {
  constexpr State multiplier = State{2549297995355413924} << 64 | 4865540595714422341;
  state_ = state_ * multiplier + increment_;
}

uint32_t NumpyRandom::next() {
  has_upper_ = !has_upper_;
  if (!has_upper_) return upper_;
  step();
  const uint64_t word = std::rotr(uint64_t(state_ >> 64) ^ uint64_t(state_), int(state_ >> 122));
  upper_ = uint32_t(word >> 32);
  return uint32_t(word);
}

// Lemire 2019, "Fast Random Integer Generation in an Interval".
uint32_t NumpyRandom::below(uint32_t size) {
  if (size == 1) return 0;  // NumPy draws nothing then
  const uint32_t least = -size % size;
  for (;;) {
    const uint64_t product = uint64_t{next()} * size;
    if (uint32_t(product) >= least) return uint32_t(product >> 32);
  }
}

bool NumpyRandom::coin() {
  if (coins_ == 0) {
    bits_ = next();
    coins_ = 32;
  }
  --coins_;
  const bool head = (bits_ & 1) != 0;
  bits_ >>= 1;
  return head;
}

}  // namespace dragoman
