#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"

namespace dragoman {

struct PeerLinks;

/// Bytes to send to a rank, and bytes expected from a rank.
struct Outgoing {
  int to;
  std::span<const std::byte> bytes;
};
struct Incoming {
  int from;
  std::span<std::byte> bytes;
};

/// A rank has ended, so the run cannot continue.
class RankLost : public Error {
 public:
  using Error::Error;
  RankLost(const std::string& message, std::string hint, bool reported)
      : Error(message, std::move(hint)), reported_(reported) {}
  bool reported() const { return reported_; }  // whether that rank has reported its error itself

 private:
  bool reported_ = false;
};

/// The exit code of a rank that has reported its error, and of a rank that ended because another one ended.
constexpr int exit_code_of_errors = 2, exit_code_of_followers = 3;

/// The name of this machine.
std::string host_name();

/// The traffic of a rank: what it has sent, and the time it spent exchanging data or waiting.
struct Traffic {
  int64_t messages = 0, bytes = 0;
  double seconds = 0;  // host time: NCCL works in parallel
};

/// The processes that work on one run, numbered by rank from 0. All ranks make the same calls in the same order; a call
/// returns when its own bytes have been sent and received. Throws RankLost if another rank has ended. One thread at a
/// time.
class Communicator {
 public:
  Communicator(int rank, int size) : rank_(rank), size_(size) {}
  virtual ~Communicator() = default;
  Communicator(const Communicator&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  /// "rank 3 of 8 (host, process 1234)"
  std::string name() const;
  /// Waits at most this many seconds for rank 0 to end. If it does, other ranks need not report their errors.
  virtual bool rank_0_ends_within(double) { return false; }

  /// Sends and receives all messages concurrently. Messages between two ranks keep their order, and both sides must
  /// agree on their sizes.
  void exchange(std::span<const Outgoing> out, std::span<const Incoming> in);

  /// Direct links between the GPUs of all ranks (comm/tensor_exchange.h); null: not linked.
  const PeerLinks* links() const { return links_; }
  void link(const PeerLinks& links) { links_ = &links; }

  /// The traffic so far, of `exchange` and of direct links.
  const Traffic& traffic() const { return traffic_; }
  void count_sent(int64_t bytes) { ++traffic_.messages, traffic_.bytes += bytes; }

  /// Broadcasts the bytes of rank 0 along a binomial tree.
  void broadcast(std::span<std::byte> bytes);
  std::string broadcast(std::string text);
  bool broadcast(bool of_rank_0);
  /// Gathers each rank's text on rank 0, by rank; empty on other ranks.
  std::vector<std::string> gather(const std::string& text);
  /// Returns when all ranks have called it.
  void barrier();
  /// Whether the value is true on any rank.
  bool any(bool value);

 private:
  virtual void transfer(std::span<const Outgoing> out, std::span<const Incoming> in) = 0;

  const int rank_, size_;
  const PeerLinks* links_ = nullptr;
  Traffic traffic_;
};

/// The communicator of a single process.
std::unique_ptr<Communicator> single_process();

/// The bytes of numbers, for exchange. All ranks have the same byte order.
template <class T>
std::span<const std::byte> bytes_of(const std::vector<T>& numbers) {
  return std::as_bytes(std::span(numbers));
}
template <class T>
std::span<std::byte> writable_bytes_of(std::vector<T>& numbers) {
  return std::as_writable_bytes(std::span(numbers));
}

}  // namespace dragoman
