#pragma once
#include "interop/foreign_tensor.h"

namespace dragoman {

/// The tensors of Marian's MODEL.bin: float32, float16, and matrices in 8 or 16 bits as Marian's intgemm and its forks
/// for browsers write them. 8 bits stay integers with one scale; 16 bits become float32. Both are stored transposed,
/// except embeddings. Reads names and shapes. Error, naming file and tensor, for encrypted files, for matrices packed
/// for one kind of CPU, and for inconsistent sizes.
std::vector<ForeignTensor> read_marian_bin(const std::string& path);

}  // namespace dragoman
