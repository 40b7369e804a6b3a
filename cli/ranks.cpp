#include "cli/ranks.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "base/threads.h"
#include "comm/heartbeat.h"
#include "comm/mpi.h"
#include "comm/processes.h"

namespace dragoman {

namespace {

// Where nothing else says how many: a rank's share of the cores, within those that it is bound to.
void share_threads(EngineOptions& machine, int ranks_here) {
  if (machine.threads > 0 || std::getenv("OMP_NUM_THREADS")) return;
  const int cores = int(std::thread::hardware_concurrency());
  machine.threads = std::clamp(cores / ranks_here, 1, ThreadPool().size());
}

}  // namespace

bool is_superfluous(const ProcessOptions& options) {
  const auto launched = launched_rank();
  return !options.shared && launched && launched->rank > 0;
}

std::unique_ptr<Communicator> start_ranks(int processes, EngineOptions& machine) {
  const auto launched = launched_rank();
  if (processes > 1 && launched)
    throw Error(
        fmt::format("--processes {} starts processes, and a launcher of MPI has started this one already", processes),
        "give their number to the launcher (mpirun -np N, srun -n N) and leave --processes out");
  if (processes <= 1 && !launched) return single_process();
  share_threads(machine, launched ? launched->on_host : processes);
  auto ranks = launched ? mpi_ranks(*launched) : fork_ranks(processes);
  if (ranks->rank() > 0) machine.log = {};
  return ranks;
}

namespace {

// The others wait in a call that will not return.
void end_of(const Communicator& ranks, const std::string& what) {
  if (ranks.rank() <= 1)
    std::fputs(
        fmt::format("error: {}: it hangs, or its machine cannot be reached\n  hint: the last checkpoint is whole: "
                    "the same command resumes from it; --comm-timeout waits longer\n",
                    what)
            .c_str(),
        stderr);
  _exit(2);
}

}  // namespace

int run_as_rank(Communicator& ranks, double timeout, const std::function<int()>& command) {
  constexpr double seconds = 5;
  try {
    const Heartbeat heartbeat(ranks, timeout, [&](const std::string& what) { end_of(ranks, what); });
    return command();
  } catch (const RankLost&) {
    if (ranks.rank() == 0) throw;
    return 2;  // rank 0 says what has happened
  } catch (const Error& error) {
    if (ranks.rank() == 0) throw;
    if (ranks.rank_0_ends_within(seconds)) return 2;
    throw Error(fmt::format("{}: {}", ranks.name(), error.what()), error.hint());
  }
}

}  // namespace dragoman
