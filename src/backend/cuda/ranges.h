#pragma once
#include <string>

#include "tensor/tensor.h"

/// Where arenas are located on a GPU.
namespace dragoman::cuda {

/// Why this GPU does not support ranges of addresses to which memory is mapped as needed (some virtual machines refuse
/// them). Empty if it does.
std::string why_no_ranges();
/// Fills in the arena functions of `memory`: an arena is a range of addresses on that GPU.
void allocate_ranges(DeviceMemory& memory);
/// The same, but an arena is one allocation of half of the free memory, which leaves some for later arenas.
void allocate_plainly(DeviceMemory& memory);
/// The same, but an arena is addresses only: each tensor has memory of its own.
void allocate_nothing(DeviceMemory& memory);

}  // namespace dragoman::cuda
