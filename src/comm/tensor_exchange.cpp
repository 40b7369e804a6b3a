#include "comm/tensor_exchange.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <map>
#include <thread>

#include "backend/backend.h"
#include "base/log.h"
#include "base/new_thread.h"
#include "base/thread_signals.h"
#include "comm/agreement.h"

namespace dragoman {
namespace {

// A host copy, or the tensor itself if it is in host memory.
Tensor room_for(const Tensor& values) {
  if (!values.memory()) return values;
  const auto bytes = std::make_shared<std::vector<std::byte>>(size_t(values.bytes()));
  return Tensor(bytes, bytes->data(), values.shape(), values.dtype());
}

std::vector<PeerMessage> peer_messages(const std::vector<TensorMessage>& messages) {
  std::vector<PeerMessage> on_device;
  for (const auto& [rank, values] : messages)
    if (values.bytes() > 0) on_device.push_back({rank, values.data(), values.bytes()});
  return on_device;
}

// The first failure of any rank, on all ranks; empty if there is none.
std::string first_failure(Communicator& ranks, const std::string& own) {
  return first_text(ranks, own.empty() ? "" : fmt::format("{}: {}", ranks.name(), own));
}

// If a rank fails to connect, the others would wait for it forever. So each rank connects in a thread, and all give up
// once one has failed; threads that still wait are detached.
std::string connect_all(Communicator& ranks, const PeerLinks& links, const std::string& id) {
  struct Attempt {
    std::string failure;
    std::atomic<bool> done = false;
  };
  const auto attempt = std::make_shared<Attempt>();
  const auto work = [attempt, &links, id, rank = ranks.rank(), size = ranks.size()] {
    leave_signals_to_the_program();
    attempt->failure = failure_of([&] { links.connect(id, rank, size); });
    attempt->done = true;
  };
  const std::string no_thread = failure_of([&] { new_thread([&] { return std::thread(work); }).detach(); });
  if (!no_thread.empty()) {
    attempt->failure = no_thread;
    attempt->done = true;
  }
  while (true) {
    const bool done = attempt->done;
    if (std::string failure = first_failure(ranks, done ? attempt->failure : ""); !failure.empty()) return failure;
    if (!ranks.any(!done)) return "";
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

// The reason of a failure; empty: all are connected.
std::string connect(Communicator& ranks, const PeerLinks& links) {
  if (std::string missing = first_failure(ranks, links.why_not()); !missing.empty()) return missing;
  std::string id;
  const std::string no_id = failure_of([&] {
    if (ranks.rank() == 0) id = links.new_id();
  });
  if (std::string failure = first_failure(ranks, no_id); !failure.empty()) return failure;
  id = ranks.broadcast(id);
  return connect_all(ranks, links, id);
}

}  // namespace

std::span<std::byte> bytes_of(const Tensor& host) {
  return {static_cast<std::byte*>(host.data()), size_t(host.bytes())};
}

void exchange(Communicator& ranks, const std::vector<TensorMessage>& out, const std::vector<TensorMessage>& in) {
  if (ranks.links()) {
    ranks.links()->exchange(peer_messages(out), peer_messages(in));
    for (const TensorMessage& message : out) ranks.count_sent(message.values.bytes());
    return;
  }
  std::vector<Tensor> sent, received;  // on the host
  std::vector<Outgoing> outgoing;
  std::vector<Incoming> incoming;
  for (size_t i = 0; i < out.size(); ++i) {
    const bool again = i > 0 && out[i].values.data() == out[i - 1].values.data();
    sent.push_back(again ? sent.back() : out[i].values.on_host());
    outgoing.push_back({out[i].rank, bytes_of(sent.back())});
  }
  for (const auto& [rank, values] : in) incoming.push_back({rank, bytes_of(received.emplace_back(room_for(values)))});
  ranks.exchange(outgoing, incoming);
  for (size_t i = 0; i < in.size(); ++i)
    if (received[i].data() != in[i].values.data()) in[i].values.assign(received[i]);
}

void require_own_gpus(Communicator& ranks, const Backend& backend) {
  if (ranks.size() == 1) return;
  std::map<std::string, std::string> rank_on;  // by device
  std::string shared;
  for (const std::string& other : ranks.gather(fmt::format("{}\n{}", backend.device, ranks.name()))) {
    const size_t end = other.find('\n');
    if (end == 0) continue;  // it computes on a CPU
    const std::string name = other.substr(end + 1);
    const auto [first, alone] = rank_on.emplace(other.substr(0, end), name);
    if (!alone && shared.empty()) shared = fmt::format("{} computes on the GPU of {}", name, first->second);
  }
  shared = ranks.broadcast(shared);
  if (!shared.empty()) throw Error(shared, "start one rank for each GPU of a machine, and name them: --devices 0 1 …");
}

void link_gpus(Communicator& ranks, const Backend& backend) {
  if (ranks.size() == 1) return;
  const PeerLinks* links = peer_links(backend);
  if (!links) return;
  const std::string failure = connect(ranks, *links);
  if (failure.empty()) return ranks.link(*links);
  log_warning(
      "gradients go through host memory, since NCCL cannot be used: {}; --no-nccl does the same without a warning",
      failure);
}

}  // namespace dragoman
