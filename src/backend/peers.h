#pragma once
#include <cstdint>
#include <span>
#include <string>

namespace dragoman {

struct Backend;

/// Device memory to send to another process, or to fill with bytes from one.
struct PeerMessage {
  int process;
  void* data;
  int64_t bytes;
};

/// Transfers between the GPUs of several processes that need not pass through the host: NCCL's.
struct PeerLinks {
  std::string (*why_not)();  // why this process has no links; empty: it has
  std::string (*new_id)();   // called in one process; the id is for all
  /// All processes call it together, with the id, in any thread. Error if the library cannot connect them; it may wait
  /// forever for a process in which the call failed.
  void (*connect)(const std::string& id, int process, int processes);
  /// Transfers all messages at once, in stream order; messages between two processes keep their order.
  void (*exchange)(std::span<const PeerMessage> out, std::span<const PeerMessage> in);
};

/// The links of a GPU backend; null for others.
const PeerLinks* peer_links(const Backend& backend);

}  // namespace dragoman
