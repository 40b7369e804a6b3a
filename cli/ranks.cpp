#include "cli/ranks.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <future>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>

#include "base/grouped.h"
#include "base/threads.h"
#include "cli/stderr_log.h"
#include "comm/heartbeat.h"
#include "comm/mpi.h"
#include "comm/processes.h"
#include "dragoman/dragoman.h"
#include "runlog/message_file.h"
#include "tensor/arena.h"

namespace dragoman {

namespace {

constexpr double seconds_for_rank_0 = 5;  // in which it meets the same error and exits

// Unless the number of threads is set: a rank's share of the machine's cores, at most those that it is bound to.
void share_threads(EngineOptions& machine, int ranks_here) {
  if (machine.threads > 0 || std::getenv("OMP_NUM_THREADS")) return;
  const int cores = int(std::thread::hardware_concurrency());
  machine.threads = std::clamp(cores / ranks_here, 1, ThreadPool().size());
}

// The number of processes: if there are several devices, one for each.
int processes_of(const ProcessOptions& options) {
  const int processes = options.processes, devices = int(options.devices.size());
  if (devices > 1 && processes > 1 && processes != devices)
    throw Error(fmt::format("--processes {} and --devices with {} GPUs contradict each other", processes, devices),
                "leave out --processes: each GPU has a process");
  if (devices == 1 && processes > 1 && options.devices[0] != "cpu")
    throw Error(fmt::format("--processes {}, but --devices names one GPU, and each process needs its own", processes),
                "leave out --processes, or name as many GPUs (--devices 0 1 …); without --devices, the CPU computes");
  return std::max(processes, devices);
}

// The device of a rank, selected by the rank's index on its machine.
std::string device_of(int index, const std::vector<std::string>& devices) {
  require(index >= 0, "--devices names {} GPUs, but the launcher does not say which of its machine's ranks this one is",
          devices.size());
  if (index >= int(devices.size()))
    throw Error(fmt::format("this machine has more ranks than --devices names GPUs ({})", devices.size()),
                "start one rank for each GPU of a machine (mpirun --npernode N, srun --ntasks-per-node N)");
  return devices[size_t(index)];
}

}  // namespace

bool is_superfluous(const ProcessOptions& options) {
  const auto launched = launched_rank();
  return !options.shared && launched && launched->rank > 0;
}

std::unique_ptr<Communicator> start_ranks(const ProcessOptions& options, EngineOptions& machine) {
  const auto launched = launched_rank();
  if (options.processes > 1 && launched)
    throw Error(fmt::format("--processes {}: an MPI launcher has already started this process", options.processes),
                "set the number of processes with the launcher (mpirun -np N, srun -n N) and leave out --processes");
  const int processes = processes_of(options);
  if (processes <= 1 && !launched) return single_process();
  share_threads(machine, launched ? launched->on_host : processes);
  auto ranks = launched ? mpi_ranks(*launched) : fork_ranks(processes);
  if (options.devices.size() > 1)
    machine.device = device_of(launched ? launched->index_on_host : ranks->rank(), options.devices);
  if (ranks->rank() > 0) machine.log = {};
  return ranks;
}

namespace {

// A file system that hangs, perhaps that of the lost machine, must not keep this process from ending.
void append_in_time(const std::string& log, const std::string& message) {
  const auto appended = std::make_shared<std::promise<void>>();
  auto done = appended->get_future();
  try {
    std::thread([=] {
      try {
        MessageFile(log).write(message);
      } catch (const Error&) {  // it was reported on stderr
      }
      appended->set_value();
    }).detach();
    done.wait_for(std::chrono::seconds(5));
  } catch (const std::system_error&) {  // no more threads
  }
}

// The others wait in a call that will not return.
void end_of(const Communicator& ranks, const Heartbeat::Loss& lost, const ProcessOptions& processes,
            const std::string& hint) {
  const std::string what = lost.reported
                               ? fmt::format("{}; stderr has it", lost.what)
                               : fmt::format("{}: it has ended or hangs, or its machine cannot be reached", lost.what);
  if (ranks.rank() <= 1 && !lost.reported) report(what, hint + "; raise --comm-timeout to wait longer");
  if (ranks.rank() == 0 && !processes.log.empty()) append_in_time(processes.log, "error: " + what);
  _exit(2);
}

// Ends without a message. When a process has ended, a launcher ends all others, so this waits until the one that knows
// the reason has reported it. MPI_Finalize would wait for processes that have ended.
int follow() {
  if (!launched_rank()) return exit_code_of_followers;
  std::this_thread::sleep_for(std::chrono::duration<double>(2 * seconds_for_rank_0));
  _exit(exit_code_of_followers);
}

// Ranks of other versions may exchange other messages from here on, as do those without a heartbeat (--comm-timeout 0).
void require_same_command(Communicator& ranks, const std::vector<Option>& options) {
  std::vector<SharedFact> facts = {{"version of dragoman", dragoman_version()}};
  for (const Option& option : options)
    if (!option.per_process)
      facts.push_back({fmt::format("--{}", option.name), fmt::format("{}", fmt::join(option.show(), " "))});
  require_same(ranks, facts);
}

}  // namespace

int run_as_rank(Communicator& ranks, const ProcessOptions& processes, const std::vector<Option>& options,
                const std::function<int()>& command) {
  const std::string hint = processes.resumes ? "the same command resumes from the last checkpoint"
                                             : "the output is not complete: give the same command again";
  std::optional<Heartbeat> heartbeat;
  try {
    require_same_command(ranks, options);
    heartbeat.emplace(ranks, processes.comm_timeout,
                      [&](const Heartbeat::Loss& lost) { end_of(ranks, lost, processes, hint); });
    const int code = command();
    heartbeat->finish();
    return code;
  } catch (const RankLost& lost) {
    if (ranks.rank() > 0) return follow();
    if (lost.reported()) return 2;
    const Error error(lost.what(), hint);
    if (launched_rank()) throw error;
    return end_with(error);
  } catch (const Error& error) {
    if (heartbeat) heartbeat->fail();
    if (ranks.size() == 1 || launched_rank()) throw;
    if (ranks.rank() == 0) return end_with(error);  // before it waits for the others
    if (ranks.rank_0_ends_within(seconds_for_rank_0)) return exit_code_of_followers;
    const std::string message = fmt::format("{}: {}", ranks.name(), error.what());
    if (dynamic_cast<const OutOfMemory*>(&error)) throw OutOfMemory(message, error.hint());
    throw Error(message, error.hint());
  }
}

std::string traffic_rows(const Communicator& ranks) {
  if (ranks.size() == 1) return "";
  const Traffic& traffic = ranks.traffic();
  return fmt::format("{:<30}{:>12}{:>10.2f}\n{:<30}{:>12}\n", "messages to other ranks", grouped(traffic.messages),
                     traffic.seconds, "bytes to other ranks", grouped(traffic.bytes));
}

int end_with(const Error& error) {
  const bool lacks_memory = dynamic_cast<const OutOfMemory*>(&error);
  const std::string hint = lacks_memory && error.hint().empty()
                               ? "allow the process more memory (ulimit -v, the container's limit), or let it hold "
                                 "less at once: smaller batches (--mini-batch-words), shorter lines, fewer threads"
                               : error.hint();
  std::string message = error.what();
  if (const auto launched = launched_rank(); launched && launched->rank > 0) {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds_for_rank_0));
    message = fmt::format("rank {} ({}): {}", launched->rank, host_name(), message);
  }
  report(message, hint);
  return lacks_memory ? 1 : exit_code_of_errors;
}

}  // namespace dragoman
