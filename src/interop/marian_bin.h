#pragma once
#include <cstdint>

#include "interop/foreign_tensor.h"

namespace dragoman {

/// The type numbers in Marian's binary files.
struct MarianType {
  enum : uint64_t {
    float16 = 0x402,
    float32 = 0x404,
    int8 = 0x101,
    uint8 = 0x201,
    intgemm8 = 0x10001,
    intgemm16 = 0x10002,
    intgemm8_of_forks = 0x4101,
    intgemm16_of_forks = 0x4102
  };
};

/// The tensors of Marian's MODEL.bin: float32, float16, and 8-bit or 16-bit matrices as written by Marian's intgemm and
/// its browser forks. 8-bit matrices stay integers with one scale; 16-bit matrices become float32. Both are stored
/// transposed, except embeddings. Reads only names and shapes; data is read on demand. Error, naming file and tensor,
/// for encrypted files, for matrices packed for a particular CPU, and for inconsistent sizes.
std::vector<ForeignTensor> read_marian_bin(const std::string& path);

}  // namespace dragoman
