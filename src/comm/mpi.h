#pragma once
#include <memory>
#include <optional>

#include "comm/communicator.h"

namespace dragoman {

/// MPI support is in a separate library, libdragoman_mpi.so, which is loaded only in processes that an MPI launcher has
/// started, since a program linked against MPI would not start on a machine without it. The library exports this struct
/// as `dragoman_mpi_module`.
struct MpiModule {
  const char* build;                         // equals mpi_build_id()
  std::unique_ptr<Communicator> (*start)();  // initialises MPI, once in a process
};

/// Identifies the build of the interface between libdragoman.so.0 and the MPI library.
const char* mpi_build_id();

/// What a launcher (mpirun, srun --mpi) sets in the environment of a process that it starts.
struct LaunchedRank {
  int rank = 0;
  int size = 0;            // 0: unknown
  int on_host = 1;         // ranks on this machine, if known
  int index_on_host = -1;  // of this rank among them; -1: unknown
};
/// nullopt in a process that was not started by a launcher. SLURM_NTASKS alone does not count, since it is also set in
/// batch scripts.
std::optional<LaunchedRank> launched_rank();

/// The ranks of MPI_COMM_WORLD. Only one thread of a process may use it. Error if the library is missing, is from
/// another build, or uses another MPI than the launcher: each process would then be a separate run.
std::unique_ptr<Communicator> mpi_ranks(const LaunchedRank& launched);

}  // namespace dragoman
