#pragma once
#include <memory>

#include "comm/communicator.h"

namespace dragoman {

/// Forks this process into `count` ranks; this process becomes rank 0. The other ranks start with a copy of its memory,
/// so it must not have other threads. Sockets connect all pairs of ranks. If a rank ends, the ranks that wait for it
/// throw RankLost. When rank 0 destroys its communicator, it waits for the others, 10 s at most, and then
/// kills them; if rank 0 ends, they end soon after.
std::unique_ptr<Communicator> fork_ranks(int count);

}  // namespace dragoman
