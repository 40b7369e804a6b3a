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

/// Bytes for another rank, and bytes expected of one.
struct Outgoing {
  int to;
  std::span<const std::byte> bytes;
};
struct Incoming {
  int from;
  std::span<std::byte> bytes;
};

/// A rank has gone, so that the run cannot continue.
class RankLost : public Error {
 public:
  using Error::Error;
  RankLost(const std::string& message, std::string hint, bool told) : Error(message, std::move(hint)), told_(told) {}
  bool told() const { return told_; }  // whether that rank has told its error itself

 private:
  bool told_ = false;
};

/// The exit codes of a rank that has told its error, and of one that another rank's end has taken along.
constexpr int exit_code_of_errors = 2, exit_code_of_followers = 3;

/// The name of this machine.
std::string host_name();

/// What a rank has sent to others, and how long it has exchanged with them or waited for them.
struct Traffic {
  int64_t messages = 0, bytes = 0;
  double seconds = 0;  // of the host: NCCL works beside it
};

/// The processes that work on one run, numbered by rank from 0. All ranks make the same calls in the same order; a call
/// returns when its own bytes have been sent and received. RankLost when another rank has ended. One thread at a time.
class Communicator {
 public:
  Communicator(int rank, int size) : rank_(rank), size_(size) {}
  virtual ~Communicator() = default;
  Communicator(const Communicator&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  /// "rank 3 of 8 (host, process 1234)"
  std::string name() const;
  /// Whether rank 0 ends within some seconds, which makes errors of other ranks its own affair.
  virtual bool rank_0_ends_within(double) { return false; }

  /// Sends and receives, all at the same time. Messages between two ranks keep their order, and each side knows their
  /// sizes.
  void exchange(std::span<const Outgoing> out, std::span<const Incoming> in);

  /// Direct links between the GPUs of all ranks (comm/tensor_exchange.h); null: there are none.
  const PeerLinks* links() const { return links_; }
  void link(const PeerLinks& links) { links_ = &links; }

  /// Up to now, with what `exchange` or direct links have sent.
  const Traffic& traffic() const { return traffic_; }
  void count_sent(int64_t bytes) { ++traffic_.messages, traffic_.bytes += bytes; }

  /// Gives all ranks the bytes of rank 0, along a binomial tree.
  void broadcast(std::span<std::byte> bytes);
  std::string broadcast(std::string text);
  bool broadcast(bool of_rank_0);
  /// Each rank's text, by rank, on rank 0; nothing on others.
  std::vector<std::string> gather(const std::string& text);
  /// Returns when all ranks have called it.
  void barrier();
  /// Whether any rank says so.
  bool any(bool here);

 private:
  virtual void transfer(std::span<const Outgoing> out, std::span<const Incoming> in) = 0;

  const int rank_, size_;
  const PeerLinks* links_ = nullptr;
  Traffic traffic_;
};

/// A process on its own.
std::unique_ptr<Communicator> single_process();

/// The bytes of numbers, to be exchanged. Ranks have the same byte order.
template <class T>
std::span<const std::byte> bytes_of(const std::vector<T>& numbers) {
  return std::as_bytes(std::span(numbers));
}
template <class T>
std::span<std::byte> writable_bytes_of(std::vector<T>& numbers) {
  return std::as_writable_bytes(std::span(numbers));
}

}  // namespace dragoman
