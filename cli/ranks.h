#pragma once
#include <functional>
#include <memory>

#include "comm/agreement.h"
#include "comm/communicator.h"
#include "dragoman/engine.h"
#include "options/flags.h"

namespace dragoman {

/// How many processes share the work of a command, if it can be shared.
struct ProcessOptions {
  bool shared = false;
  int processes = 1;
  std::vector<std::string> devices = {};  // of each process, if several
  double comm_timeout = 60;               // seconds
  bool resumes = false;                   // the same command continues where one has ended
  std::string log = {};                   // file that also receives the error by which a lost rank ends the run
};

/// The processes started by an MPI launcher, or those of --processes or --devices, including this one; each computes
/// with its share of the threads, on its own device of several. Only rank 0 writes messages. Must be called before
/// anything starts a thread or uses a GPU.
std::unique_ptr<Communicator> start_ranks(const ProcessOptions& options, EngineOptions& machine);

/// Whether an MPI launcher has started several processes for a command that runs in one.
bool is_superfluous(const ProcessOptions& options);

/// Runs a command in one of these processes. Error on all ranks unless they run the same version with the same options,
/// except those that each may have its own value of. Errors of rank 0 apply to all; those of another rank name it. All
/// end when a rank has been silent for `comm_timeout` seconds; 0: never.
int run_as_rank(Communicator& ranks, const ProcessOptions& processes, const std::vector<Option>& options,
                const std::function<int()>& command);

/// Rows of a profile (backend/profile.h): how many messages and bytes this rank has sent to others, and the seconds in
/// which it exchanged or waited for them. Empty if there are none.
std::string traffic_rows(const Communicator& ranks);

/// Reports the error that ends this process, and returns the exit code: 1 for lack of memory, else 2. On ranks other
/// than 0 of a launcher, it names the rank and its machine, and waits for some seconds before that: rank 0 reports
/// errors that all ranks meet, and the launcher then ends the others.
int end_with(const Error& error);

}  // namespace dragoman
