#pragma once
#include <array>
#include <cstdint>

namespace dragoman {

/// Philox4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"): a bijection of a 128-bit counter
/// under a 64-bit key. The same (key, counter) gives the same four numbers on every backend and in every order, so a
/// random mask is a function of where it is used and never has to be stored.
using PhiloxCounter = std::array<uint32_t, 4>;
using PhiloxKey = std::array<uint32_t, 2>;

constexpr PhiloxCounter philox(PhiloxCounter c, PhiloxKey k) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * c[0], b = uint64_t{0xCD9E8D57} * c[2];
    c = {uint32_t(b >> 32) ^ c[1] ^ k[0], uint32_t(b), uint32_t(a >> 32) ^ c[3] ^ k[1], uint32_t(a)};
    k = {k[0] + 0x9E3779B9, k[1] + 0xBB67AE85};
  }
  return c;
}

/// A sequence of random numbers from one (seed, stream), in order. For shuffling and initialisation on the host.
class PhiloxSequence {
 public:
  PhiloxSequence(uint64_t seed, uint64_t stream) : key_{uint32_t(seed), uint32_t(seed >> 32)}, stream_(stream) {}
  uint32_t next();
  uint64_t below(uint64_t n);  // uniform in [0, n), n > 0, without modulo bias
  double uniform();            // in [0, 1), 32 bits
  double normal();             // standard normal (Box-Muller)

 private:
  PhiloxKey key_;
  uint64_t stream_, index_ = 0;
  PhiloxCounter block_{};
};

}  // namespace dragoman
