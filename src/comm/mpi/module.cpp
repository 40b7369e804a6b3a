#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <thread>

#include "comm/mpi.h"

namespace dragoman {
namespace {

constexpr size_t largest_message = size_t{1} << 30;  // bytes; MPI counts bytes in an int

void check(int result) {
  if (result == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(result, text, &length);
  throw RankLost(fmt::format("MPI: {}", std::string(text, size_t(length))));
}

int world(int (*ask)(MPI_Comm, int*)) {
  int number = 0;
  check(ask(MPI_COMM_WORLD, &number));
  return number;
}

class MpiRanks : public Communicator {
 public:
  MpiRanks() : Communicator(world(MPI_Comm_rank), world(MPI_Comm_size)) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  }

  // MPI_Finalize waits for all ranks. After an error, this process ends without it, so that the launcher ends the other
  // ranks.
  ~MpiRanks() override {
    if (std::uncaught_exceptions() == 0) MPI_Finalize();
  }

 private:
  void transfer(std::span<const Outgoing> out, std::span<const Incoming> in) override {
    std::vector<MPI_Request> requests;
    for (const Incoming& i : in)
      in_messages(i.bytes, [&](std::span<std::byte> part) {
        check(MPI_Irecv(part.data(), int(part.size()), MPI_BYTE, i.from, 0, MPI_COMM_WORLD, &requests.emplace_back()));
      });
    for (const Outgoing& o : out)
      in_messages(o.bytes, [&](std::span<const std::byte> part) {
        check(MPI_Isend(part.data(), int(part.size()), MPI_BYTE, o.to, 0, MPI_COMM_WORLD, &requests.emplace_back()));
      });
    wait_for(requests);
  }

  template <class Byte, class F>
  static void in_messages(std::span<Byte> bytes, const F& f) {
    for (; !bytes.empty(); bytes = bytes.subspan(std::min(largest_message, bytes.size())))
      f(bytes.first(std::min(largest_message, bytes.size())));
  }

  // Polls eagerly at first, then yields the core: there may be more ranks than cores, and a rank may be busy for long,
  // for example with validation.
  static void wait_for(std::vector<MPI_Request>& requests) {
    constexpr int eager = 2000;
    for (int polls = 0, done = 0;; ++polls) {
      check(MPI_Testall(int(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE));
      if (done) return;
      if (polls < eager)
        std::this_thread::yield();
      else
        std::this_thread::sleep_for(std::chrono::microseconds(std::min(1000, polls / 20)));
    }
  }
};

std::unique_ptr<Communicator> start() {
  int provided = 0;
  check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided));
  return std::make_unique<MpiRanks>();
}

}  // namespace
}  // namespace dragoman

extern "C" [[gnu::visibility("default")]] const dragoman::MpiModule dragoman_mpi_module;
const dragoman::MpiModule dragoman_mpi_module{DRAGOMAN_MPI_BUILD_ID, dragoman::start};
