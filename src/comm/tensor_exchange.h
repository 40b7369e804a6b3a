#pragma once
#include <span>
#include <vector>

#include "backend/peers.h"
#include "comm/communicator.h"
#include "tensor/tensor.h"

namespace dragoman {

/// A tensor to send to a rank, and a tensor to receive from a rank. Rows are contiguous.
struct TensorMessage {
  int rank;
  Tensor values;
};

/// The bytes of a contiguous tensor in host memory.
std::span<std::byte> bytes_of(const Tensor& host);

/// Sends and receives all tensors concurrently: directly between GPUs if they are linked, else through host memory.
/// Messages between two ranks keep their order, and both sides must agree on their sizes.
void exchange(Communicator& ranks, const std::vector<TensorMessage>& out, const std::vector<TensorMessage>& in);

/// Error on all ranks, which call it together, if two compute on one GPU: each would plan with all of its memory.
void require_own_gpus(Communicator& ranks, const Backend& backend);

/// Links the GPUs of all ranks, which call it together: afterwards, `exchange` uses NCCL. If NCCL is missing on a rank
/// or cannot connect, `exchange` keeps using host memory, and a warning says why.
void link_gpus(Communicator& ranks, const Backend& backend);

}  // namespace dragoman
