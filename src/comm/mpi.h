#pragma once
#include <memory>
#include <optional>

#include "comm/communicator.h"

namespace dragoman {

/// MPI is in a library of its own, libdragoman_mpi.so, which is loaded in processes that a launcher of MPI has started:
/// a program linked against MPI would not start where there is none. It exports this struct as `dragoman_mpi_module`.
struct MpiModule {
  const char* build;                         // equals mpi_build_id()
  std::unique_ptr<Communicator> (*start)();  // initialises MPI, once in a process
};

/// Identifies the build of the interface between libdragoman.so.0 and the library for MPI.
const char* mpi_build_id();

/// What a launcher (mpirun, srun --mpi) says in the environment of a process that it has started.
struct LaunchedRank {
  int rank = 0;
  int size = 0;            // 0: it does not say
  int on_host = 1;         // ranks on this machine, as far as it says
  int index_on_host = -1;  // of this one among them; -1: it does not say
};
/// None in a process that was started otherwise. SLURM_NTASKS alone does not count: batch scripts have it, too.
std::optional<LaunchedRank> launched_rank();

/// The ranks of MPI's world. One thread of a process uses it. Error when the library is missing, of another build, or
/// of another MPI than the launcher's: each process would then be a run of its own.
std::unique_ptr<Communicator> mpi_ranks(const LaunchedRank& launched);

}  // namespace dragoman
