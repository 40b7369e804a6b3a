#pragma once
#include <memory>

#include "comm/communicator.h"

namespace dragoman {

/// Makes `count` ranks of this process, which becomes rank 0: the others are forked, so they have the memory that it
/// has now, and nothing else may be running in it, no thread above all. Sockets connect each with each. A rank that
/// ends takes those that wait for it along (RankLost). When rank 0 destroys its communicator, it waits for the others;
/// they do not outlive it by long.
std::unique_ptr<Communicator> fork_ranks(int count);

}  // namespace dragoman
