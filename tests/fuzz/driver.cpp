// Feeds a target its seeds and inputs made from them, without libFuzzer:
//
//   fuzz_model 100000          inputs 0 … 99,999
//   fuzz_model 100000 4711     that many from input 4711 on: to repeat a crash, 1 4711
//   fuzz_model --seeds FOLDER  writes the seeds to files, for libFuzzer
//
// A child process reads; the parent says which input it died of, hung at, or took too much memory for.

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>

#include "base/error.h"
#include "tests/fuzz/mutator.h"
#include "tests/fuzz/target.h"
#include "tests/temporary_folder.h"

namespace dragoman {
namespace {

constexpr int longest_wait = 60;              // seconds for one input, under sanitizers on a busy machine
constexpr long most_memory = 3 * (1l << 20);  // KiB; sanitizers hold back what was freed

// Whether the reader took the input; an Error is what it is to do with a hostile one.
bool is_taken(const std::string& input) {
  try {
    read(input);
    return true;
  } catch (const Error&) {
    return false;
  }
}

// How far the child is, in memory that both processes see.
struct Standing {
  std::atomic<uint64_t> at, taken = 0;
};

[[noreturn]] void read_all(Mutator& mutator, Standing& standing, uint64_t end) {
  for (uint64_t number = standing.at; number < end; standing.at = ++number) {
    if (is_taken(mutator.input(number))) ++standing.taken;
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    if (usage.ru_maxrss > most_memory) {
      fmt::print(stderr, "{} MiB of memory are in use\n", usage.ru_maxrss / 1024);
      std::_Exit(1);
    }
  }
  std::_Exit(0);
}

// Waits for the child; ends it when it stays at one input for too long.
int status_of(pid_t child, const std::atomic<uint64_t>& at) {
  int status = 0, waited = 0;
  for (uint64_t last = at; waitpid(child, &status, WNOHANG) == 0;) {
    usleep(10'000);
    waited = at == last ? waited + 1 : 0;
    last = at;
    if (waited < longest_wait * 100) continue;
    fmt::print(stderr, "an input takes longer than {} s\n", longest_wait);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    break;
  }
  return status;
}

int run(uint64_t inputs, uint64_t first) {
  void* shared = mmap(nullptr, sizeof(Standing), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  require(shared != MAP_FAILED, "no shared memory");
  Standing& standing = *new (shared) Standing{first};
  const TemporaryFolder folder;  // with all that the child makes, however it ends
  setenv("TMPDIR", (folder / "").c_str(), 1);
  Mutator mutator(seeds());
  const pid_t child = fork();
  if (child == 0) read_all(mutator, standing, first + inputs);
  const int status = status_of(child, standing.at);
  const uint64_t at = standing.at, taken = standing.taken;
  if (status == 0) return fmt::print("{} inputs: {} taken, {} refused\n", inputs, taken, inputs - taken), 0;
  fmt::print(stderr, "input {} broke the reader: repeat with the arguments 1 {}\n", at, at);
  return 1;
}

int write_seeds(const std::string& folder) {
  int number = 0;
  for (const std::string& seed : seeds())
    std::ofstream(fmt::format("{}/seed{}", folder, number++), std::ios::binary) << seed;
  return 0;
}

}  // namespace
}  // namespace dragoman

int main(int argc, char** argv) {
  const std::string first = argc > 1 ? argv[1] : "10000";
  if (first == "--seeds" && argc > 2) return dragoman::write_seeds(argv[2]);
  return dragoman::run(std::strtoull(first.c_str(), nullptr, 10), argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0);
}
