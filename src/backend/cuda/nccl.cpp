#include "backend/cuda/nccl.h"

#include <dlfcn.h>

#include <array>
#include <atomic>
#include <cstring>

#include "backend/cuda/memory.h"

namespace dragoman::cuda {
namespace {

// Declared here, since NCCL's header need not be installed: https://docs.nvidia.com/deeplearning/nccl, version 2.7 or
// later, which has sends and receives.
struct UniqueId {
  std::array<char, 128> bytes;
};
using Connection = void*;
constexpr int success = 0, of_bytes = 0;  // ncclSuccess, ncclInt8

struct Library {
  void* handle = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  std::string missing = handle ? "" : dlerror();

  int (*get_unique_id)(UniqueId*) = function<int(UniqueId*)>("ncclGetUniqueId");
  int (*init_rank)(Connection*, int, UniqueId,
                   int) = function<int(Connection*, int, UniqueId, int)>("ncclCommInitRank");
  int (*group_start)() = function<int()>("ncclGroupStart");
  int (*group_end)() = function<int()>("ncclGroupEnd");
  int (*send)(const void*, size_t, int, int, Connection,
              cudaStream_t) = function<int(const void*, size_t, int, int, Connection, cudaStream_t)>("ncclSend");
  int (*receive)(void*, size_t, int, int, Connection,
                 cudaStream_t) = function<int(void*, size_t, int, int, Connection, cudaStream_t)>("ncclRecv");
  const char* (*describe)(int) = function<const char*(int)>("ncclGetErrorString");

 private:
  template <class F>
  F* function(const char* name) {
    void* const found = handle ? dlsym(handle, name) : nullptr;
    if (!found && missing.empty()) missing = fmt::format("libnccl.so.2 has no {}", name);
    return reinterpret_cast<F*>(found);
  }
};

const Library& library() {
  static const Library one;
  return one;
}

void check_nccl(int status, const char* call) {
  if (status == success) return;
  throw Error(fmt::format("NCCL: {} failed: {}", call, library().describe(status)),
              "NCCL_DEBUG=INFO makes NCCL report more; --no-nccl trains without it");
}

std::atomic<Connection> connection = nullptr;  // of this process with all others, until it ends

std::string why_not() { return library().missing; }

std::string new_id() {
  UniqueId id{};
  check_nccl(library().get_unique_id(&id), "ncclGetUniqueId");
  return {id.bytes.begin(), id.bytes.end()};
}

void connect(const std::string& id, int process, int processes) {
  UniqueId own{};
  std::memcpy(own.bytes.data(), id.data(), std::min(id.size(), own.bytes.size()));
  use_device();  // selects it only: NCCL waits for other ranks, and the thread that notices a lost one must get on
  Connection made = nullptr;
  check_nccl(library().init_rank(&made, processes, own, process), "ncclCommInitRank");
  connection = made;
}

void exchange(std::span<const PeerMessage> out, std::span<const PeerMessage> in) {
  use_device();  // as above
  const Library& nccl = library();
  check_nccl(nccl.group_start(), "ncclGroupStart");
  for (const auto& [process, data, bytes] : out)
    check_nccl(nccl.send(data, size_t(bytes), of_bytes, process, connection, stream()), "ncclSend");
  for (const auto& [process, data, bytes] : in)
    check_nccl(nccl.receive(data, size_t(bytes), of_bytes, process, connection, stream()), "ncclRecv");
  check_nccl(nccl.group_end(), "ncclGroupEnd");
}

}  // namespace

bool connected() { return connection != nullptr; }

const PeerLinks& nccl() {
  static constexpr PeerLinks links{why_not, new_id, connect, exchange};
  return links;
}

}  // namespace dragoman::cuda
