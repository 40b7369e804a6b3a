#pragma once
#include <functional>
#include <memory>

#include "comm/communicator.h"
#include "dragoman/engine.h"

namespace dragoman {

/// The processes that a launcher of MPI has started, or those of --processes, this one among them; each computes with
/// its share of the threads. Rank 0 alone writes messages. Called before anything starts a thread.
std::unique_ptr<Communicator> start_ranks(int processes, EngineOptions& machine);

/// Runs a command in one of these processes. Errors of rank 0 are everybody's; those of another rank name it.
int run_as_rank(Communicator& ranks, const std::function<int()>& command);

}  // namespace dragoman
