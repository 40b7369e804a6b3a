#pragma once
#include <string>

#include "tensor/tensor.h"

/// Where arenas lie on a GPU.
namespace dragoman::cuda {

/// Why this GPU cannot have ranges of addresses to which memory is added, which some virtual machines refuse. Empty: it
/// can.
std::string why_no_ranges(int device);
/// What of `memory` is about an arena: it is a range of addresses on that GPU.
void allocate_ranges(DeviceMemory& memory, int device);
/// It is one piece, of half of the memory that is free, so that arenas made later have some.
void allocate_plainly(DeviceMemory& memory);
/// It is addresses alone: each tensor has memory of its own.
void allocate_nothing(DeviceMemory& memory);

}  // namespace dragoman::cuda
