#pragma once
#include "backend/peers.h"

namespace dragoman::cuda {

/// NCCL, libnccl.so.2, loaded when it is first asked for.
const PeerLinks& nccl();

}  // namespace dragoman::cuda
