#pragma once
#include <cstdint>
#include <span>
#include <string>

namespace dragoman {

struct Backend;

/// Bytes of device memory for another process, or room for those of one.
struct PeerMessage {
  int process;
  void* data;
  int64_t bytes;
};

/// Sends and receives between the GPUs of several processes, which need not pass through the host: NCCL's.
struct PeerLinks {
  std::string (*why_not)();  // why there is none in this process; empty: there is
  std::string (*new_id)();   // in one process, for all
  /// All processes call it together, with the id, in any thread. Error if the library cannot connect them; it may wait
  /// without end for a process in which it failed.
  void (*connect)(const std::string& id, int process, int processes);
  /// All messages at the same time, in stream order; those between two processes keep their order.
  void (*exchange)(std::span<const PeerMessage> out, std::span<const PeerMessage> in);
};

/// Those of a GPU backend; null for others.
const PeerLinks* peer_links(const Backend& backend);

}  // namespace dragoman
