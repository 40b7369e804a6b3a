#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

// Stands in for NCCL in tests: a message is a file in the folder NCCL_ON_HOST_FOLDER, which goes away when it is
// received. What src/backend/cuda/nccl.cpp does not use is absent. CUDA_ON_HOST_REFUSES names calls that fail, where
// NCCL_ON_HOST_RANK is set only on that rank. NCCL_ON_HOST_DIES is "R": rank R is killed within its second exchange,
// and with NCCL_ON_HOST_FAILS that exchange fails.

namespace fs = std::filesystem;

struct UniqueId {
  std::array<char, 128> bytes;
};
struct Connection {
  int rank;
  std::map<std::pair<int, int>, int> messages = {};  // between two ranks so far
};
using Stream = void*;

namespace {

constexpr int success = 0, internal_error = 3;

// Of a group that is open.
struct Message {
  bool sent;
  std::byte* data;
  size_t bytes;
  int peer;
  Connection* connection;
  Stream stream;
};
std::vector<Message>* group = nullptr;

bool refused(const char* call) {
  const char* const calls = std::getenv("CUDA_ON_HOST_REFUSES");
  return calls && std::string_view(calls).find(call) != std::string_view::npos;
}

// Whether an environment variable names this rank.
bool is_rank(const char* variable, int rank) {
  const char* const value = std::getenv(variable);
  return value && std::string_view(value) == std::to_string(rank);
}

fs::path in_folder(const std::string& name) { return fs::path(std::getenv("NCCL_ON_HOST_FOLDER")) / name; }

void wait_for(const fs::path& file) {
  for (int tries = 0; !fs::exists(file) && tries < 60'000; ++tries) usleep(1000);
}

// Device memory belongs to the stand-in for CUDA, as does the stream.
void copy(Stream stream, void* to, const void* from, size_t bytes) {
  Dl_info owner{};
  dladdr(stream, &owner);
  void* const cuda = dlopen(owner.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  reinterpret_cast<void (*)(void*, const void*, size_t)>(dlsym(cuda, "cuda_on_host_copy"))(to, from, bytes);
}

fs::path file_of(Connection& c, int from, int to) {
  return in_folder(std::to_string(from) + "-" + std::to_string(to) + "-" + std::to_string(c.messages[{from, to}]++));
}

void send(const Message& m) {
  const fs::path file = file_of(*m.connection, m.connection->rank, m.peer), part = file.string() + ".part";
  std::vector<char> bytes(m.bytes);
  copy(m.stream, bytes.data(), m.data, m.bytes);
  std::ofstream(part, std::ios::binary).write(bytes.data(), std::streamsize(m.bytes));
  fs::rename(part, file);
}

bool receive(const Message& m) {
  const fs::path file = file_of(*m.connection, m.peer, m.connection->rank);
  wait_for(file);
  if (!fs::exists(file) || fs::file_size(file) != m.bytes) return false;
  std::vector<char> bytes(m.bytes);
  std::ifstream(file, std::ios::binary).read(bytes.data(), std::streamsize(m.bytes));
  copy(m.stream, m.data, bytes.data(), m.bytes);
  return fs::remove(file);
}

}  // namespace

extern "C" {

const char* ncclGetErrorString(int) { return "internal error"; }

int ncclGetUniqueId(UniqueId* id) {
  const std::string name = "run-" + std::to_string(getpid());
  *id = {};
  std::memcpy(id->bytes.data(), name.data(), name.size());
  return refused("ncclGetUniqueId") ? internal_error : success;
}

int ncclCommInitRank(Connection** connection, int ranks, UniqueId id, int rank) {
  const bool everywhere = !std::getenv("NCCL_ON_HOST_RANK");
  if (refused("ncclCommInitRank") && (everywhere || is_rank("NCCL_ON_HOST_RANK", rank))) return internal_error;
  const auto arrived = [&](int r) { return in_folder(std::string(id.bytes.data()) + "-rank-" + std::to_string(r)); };
  std::ofstream(arrived(rank)) << rank;
  for (int r = 0; r < ranks; ++r) wait_for(arrived(r));
  *connection = new Connection{rank};
  return success;
}

int ncclGroupStart() {
  group = new std::vector<Message>;
  return success;
}

int ncclSend(const void* data, size_t bytes, int, int peer, Connection* connection, Stream stream) {
  group->push_back({true, static_cast<std::byte*>(const_cast<void*>(data)), bytes, peer, connection, stream});
  return success;
}

int ncclRecv(void* data, size_t bytes, int, int peer, Connection* connection, Stream stream) {
  group->push_back({false, static_cast<std::byte*>(data), bytes, peer, connection, stream});
  return success;
}

int ncclGroupEnd() {
  static int exchanges = 0;
  if (++exchanges == 2 && !group->empty()) {
    const int rank = group->front().connection->rank;
    if (is_rank("NCCL_ON_HOST_DIES", rank)) std::raise(SIGKILL);
    if (is_rank("NCCL_ON_HOST_FAILS", rank)) return internal_error;
  }
  bool whole = true;
  for (const Message& m : *group)
    if (m.sent) send(m);
  for (const Message& m : *group)
    if (!m.sent) whole = receive(m) && whole;
  delete group;
  return whole ? success : internal_error;
}
}
