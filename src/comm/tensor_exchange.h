#pragma once
#include <span>
#include <vector>

#include "backend/peers.h"
#include "comm/communicator.h"
#include "tensor/tensor.h"

namespace dragoman {

/// Values for another rank, and a tensor for those of one. Rows are contiguous.
struct TensorMessage {
  int rank;
  Tensor values;
};

/// Of a contiguous tensor in the host's memory.
std::span<std::byte> bytes_of(const Tensor& host);

/// Sends and receives tensors, all at the same time: directly between GPUs where these are linked, else through the
/// memory of the host. Messages between two ranks keep their order, and each side knows their sizes.
void exchange(Communicator& ranks, const std::vector<TensorMessage>& out, const std::vector<TensorMessage>& in);

/// Links the GPUs of all ranks, which call it together: from there on, `exchange` uses NCCL. If that is missing on a
/// rank, or cannot connect them, nothing changes, with a warning that says why.
void link_gpus(Communicator& ranks, const Backend& backend);

}  // namespace dragoman
