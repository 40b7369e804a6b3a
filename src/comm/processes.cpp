#include "comm/processes.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <deque>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "comm/socket.h"

namespace dragoman {
namespace {

std::pair<Socket, Socket> connection() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0)
    throw Error(fmt::format("no connection between processes: {}", std::strerror(errno)),
                "start fewer --processes, or raise the limit on open files (ulimit -n)");
  return {Socket(ends[0]), Socket(ends[1])};
}

// The data still to be sent to a rank, or received from it.
template <class Bytes>
class Queue {
 public:
  void add(Bytes bytes) {
    if (!bytes.empty()) bytes_.push_back(bytes);
  }
  bool empty() const { return bytes_.empty(); }
  Bytes first() const { return bytes_.front(); }
  void advance(size_t count) {
    bytes_.front() = bytes_.front().subspan(count);
    if (bytes_.front().empty()) bytes_.pop_front();
  }

 private:
  std::deque<Bytes> bytes_;
};

struct Transfers {
  Queue<std::span<const std::byte>> out;
  Queue<std::span<std::byte>> in;
};

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status))
    return fmt::format("was killed by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  return fmt::format("ended with exit code {}", WEXITSTATUS(status));
}

class ForkedRanks : public Communicator {
 public:
  ForkedRanks(int rank, int size, std::vector<Socket> peers, std::vector<pid_t> children)
      : Communicator(rank, size), peers_(std::move(peers)), children_(std::move(children)) {}

  // Closing the connections ends ranks that still wait for this one, except in a call that does not return (NCCL).
  ~ForkedRanks() override {
    constexpr double seconds = 10;
    peers_.clear();
    const Clock since;
    for (const pid_t child : children_) {
      if (child == 0) continue;
      while (waitpid(child, nullptr, WNOHANG) == 0) {
        if (since.seconds() > seconds) kill(child, SIGKILL);
        poll(nullptr, 0, 5);
      }
    }
  }

  bool rank_0_ends_within(double seconds) override {
    if (rank() == 0) return false;
    pollfd end{peers_[0].number(), POLLRDHUP, 0};
    return poll(&end, 1, int(1000 * seconds)) > 0;
  }

 private:
  void transfer(std::span<const Outgoing> out, std::span<const Incoming> in) override {
    std::vector<Transfers> transfers(static_cast<size_t>(size()));
    for (const Outgoing& o : out) transfers[size_t(o.to)].out.add(o.bytes);
    for (const Incoming& i : in) transfers[size_t(i.from)].in.add(i.bytes);
    while (true) {
      std::vector<pollfd> waiting;
      std::vector<int> ranks;
      for (int r = 0; r < size(); ++r) {
        Transfers& t = transfers[size_t(r)];
        send_some(r, t);
        receive_some(r, t);
        const int events = (t.out.empty() ? 0 : POLLOUT) | (t.in.empty() ? 0 : POLLIN);
        if (events == 0) continue;
        waiting.push_back({peers_[size_t(r)].number(), short(events), 0});
        ranks.push_back(r);
      }
      if (waiting.empty()) return;
      while (poll(waiting.data(), waiting.size(), -1) < 0) invariant(errno == EINTR, "poll() on sockets");
    }
  }

  void send_some(int rank, Transfers& t) {
    while (!t.out.empty()) {
      const auto bytes = t.out.first();
      const ssize_t sent = send(peers_[size_t(rank)].number(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0 && errno == EAGAIN) return;
      if (sent < 0) lost(rank);
      t.out.advance(size_t(sent));
    }
  }

  void receive_some(int rank, Transfers& t) {
    while (!t.in.empty()) {
      const auto bytes = t.in.first();
      const ssize_t received = recv(peers_[size_t(rank)].number(), bytes.data(), bytes.size(), 0);
      if (received < 0 && errno == EINTR) continue;
      if (received < 0 && errno == EAGAIN) return;
      if (received <= 0) lost(rank);
      t.in.advance(size_t(received));
    }
  }

  // What is noticed first is the reason, also of later failures: an ended child's exit code is there only once.
  [[noreturn]] void lost(int rank) {
    if (!loss_) loss_ = loss_of(rank);
    throw RankLost(*loss_);
  }

  // A rank that ended because of another rank may be noticed first: rank 0 then waits for the rank that caused it.
  RankLost loss_of(int rank) {
    constexpr double seconds = 2;
    for (const Clock since; !children_.empty() && since.seconds() < seconds; poll(nullptr, 0, 5))
      for (int r = 1; r < size(); ++r) {
        int status = 0;
        if (children_[size_t(r)] == 0 || waitpid(children_[size_t(r)], &status, WNOHANG) == 0) continue;
        children_[size_t(r)] = 0;
        const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
        if (code != exit_code_of_followers)
          return RankLost(fmt::format("rank {} of {} {}{}", r, size(), how_it_ended(status),
                                      code == exit_code_of_errors ? "; stderr has its error" : ""),
                          "", code == exit_code_of_errors);
      }
    return RankLost(fmt::format("rank {} of {} has ended", rank, size()));
  }

  std::vector<Socket> peers_;    // by rank; this rank's own is closed
  std::vector<pid_t> children_;  // on rank 0, by rank; 0: has ended
  std::optional<RankLost> loss_;
};

}  // namespace

std::unique_ptr<Communicator> fork_ranks(int count) {
  const auto index = [count](int of, int to) { return size_t(of) * size_t(count) + size_t(to); };
  std::vector<std::optional<Socket>> ends(size_t(count) * size_t(count));
  for (int a = 0; a < count; ++a)
    for (int b = a + 1; b < count; ++b) {
      auto [of_a, of_b] = connection();
      ends[index(a, b)].emplace(std::move(of_a));
      ends[index(b, a)].emplace(std::move(of_b));
    }
  int rank = 0;
  const pid_t parent = getpid();
  std::vector<pid_t> children(static_cast<size_t>(count));
  for (int r = 1; r < count && rank == 0; ++r) {
    const pid_t child = fork();
    if (child < 0)
      throw Error(fmt::format("process {} of {} cannot be started: {}", r + 1, count, std::strerror(errno)));
    if (child > 0) {
      children[size_t(r)] = child;
      continue;
    }
    rank = r;
    children.clear();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) throw RankLost("rank 0 has ended");  // it ended before the call
  }
  std::vector<Socket> peers;
  for (int r = 0; r < count; ++r) peers.push_back(r == rank ? Socket(-1) : std::move(*ends[index(rank, r)]));
  return std::make_unique<ForkedRanks>(rank, count, std::move(peers), std::move(children));
}

}  // namespace dragoman
