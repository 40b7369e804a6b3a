#pragma once
#include "backend/peers.h"

namespace dragoman::cuda {

/// NCCL, libnccl.so.2, loaded on first use.
const PeerLinks& nccl();

/// Whether this process is connected to others: from then on its stream may wait for what they send.
bool connected();

}  // namespace dragoman::cuda
