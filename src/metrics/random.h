#pragma once
#include <cstdint>

namespace dragoman {

/// The numbers of NumPy's default_rng(seed), so that resampling draws the same lines as sacreBLEU: PCG64 (O'Neill
/// 2014, "PCG: A Family of Simple Fast Space-Efficient Statistically Good Algorithms for Random Number Generation",
/// XSL-RR 128/64), seeded by NumPy's SeedSequence. About 3 ns per number.
class NumpyRandom {
 public:
  explicit NumpyRandom(uint64_t seed);

  uint32_t next();                // 32 bits; two of one step of the generator
  uint32_t below(uint32_t size);  // integers(0, size) and choice(size), by Lemire's method
  bool coin();                    // integers(2, dtype=bool): the bits of next(), lowest first

 private:
  __extension__ using State = unsigned __int128;
  void step();

  State state_ = 0, increment_ = 0;
  uint32_t upper_ = 0, bits_ = 0;  // the unread half of the last step; the unread coins
  bool has_upper_ = false;
  int coins_ = 0;
};

}  // namespace dragoman
