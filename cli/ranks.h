#pragma once
#include <functional>
#include <memory>

#include "comm/communicator.h"
#include "dragoman/engine.h"

namespace dragoman {

/// How many processes share the work of a command, if it can be shared.
struct ProcessOptions {
  bool shared = false;
  int processes = 1;
  double comm_timeout = 60;  // seconds
};

/// The processes that a launcher of MPI has started, or those of --processes, this one among them; each computes with
/// its share of the threads. Rank 0 alone writes messages. Called before anything starts a thread.
std::unique_ptr<Communicator> start_ranks(int processes, EngineOptions& machine);

/// Whether a launcher of MPI has started several processes for a command that one has to run.
bool is_superfluous(const ProcessOptions& options);

/// Runs a command in one of these processes. Errors of rank 0 are everybody's; those of another rank name it. All end
/// when nothing has been heard of a rank for `timeout` seconds; 0: never.
int run_as_rank(Communicator& ranks, double timeout, const std::function<int()>& command);

}  // namespace dragoman
