#pragma once
#include "backend/peers.h"

namespace dragoman::cuda {

/// NCCL, libnccl.so.2, loaded on first use.
const PeerLinks& nccl();

}  // namespace dragoman::cuda
