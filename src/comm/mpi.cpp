#include "comm/mpi.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>

namespace dragoman {
namespace {

namespace fs = std::filesystem;

// The value of the first of these variables that contains a number.
std::optional<int> number_in(std::initializer_list<const char*> variables) {
  for (const char* variable : variables) {
    const char* text = std::getenv(variable);
    int number = 0;
    if (text && std::from_chars(text, text + std::strlen(text), number).ec == std::errc()) return number;
  }
  return {};
}

std::string module_file() {
  Dl_info here{};
  dladdr(reinterpret_cast<const void*>(&mpi_build_id), &here);
  const fs::path folder = fs::canonical(here.dli_fname).parent_path();
  for (const fs::path& file : {folder / "libdragoman_mpi.so", folder / "dragoman/libdragoman_mpi.so"})
    if (fs::exists(file)) return file;
  throw Error(fmt::format("an MPI launcher has started this process, but {} is missing",
                          (folder / "libdragoman_mpi.so").string()),
              "build dragoman with Open MPI installed (libopenmpi-dev), or start it without mpirun; on one machine, "
              "--processes needs no MPI");
}

}  // namespace

const char* mpi_build_id() { return DRAGOMAN_MPI_BUILD_ID; }

std::optional<LaunchedRank> launched_rank() {
  const auto rank = number_in({"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"});
  if (!rank) return {};
  return LaunchedRank{*rank, number_in({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}).value_or(0),
                      std::max(1, number_in({"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}).value_or(1)),
                      number_in({"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"}).value_or(-1)};
}

// RTLD_GLOBAL, since MPI's plugins look up its symbols.
std::unique_ptr<Communicator> mpi_ranks(const LaunchedRank& launched) {
  const std::string file = module_file();
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!library)
    throw Error(fmt::format("cannot load {}: {}", file, dlerror()), "libmpi.so comes with Open MPI (libopenmpi3)");
  const auto* module = static_cast<const MpiModule*>(dlsym(library, "dragoman_mpi_module"));
  require(module && std::string_view(module->build) == mpi_build_id(),
          "{} belongs to another build of dragoman; reinstall both", file);
  auto ranks = module->start();
  if (launched.size > 0 && launched.size != ranks->size())
    throw Error(fmt::format("the launcher has started {} processes, but MPI reports {}: the launcher is not of the MPI "
                            "that {} was built with",
                            launched.size, ranks->size(), file),
                "start it with Open MPI's mpirun, or with srun --mpi=pmix");
  return ranks;
}

}  // namespace dragoman
