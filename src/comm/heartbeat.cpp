#include "comm/heartbeat.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <sstream>
#include <string_view>
#include <thread>

#include "base/clock.h"
#include "base/new_thread.h"
#include "comm/socket.h"

namespace dragoman {
namespace {

constexpr char beat = 'b', goodbye = 'q', failure = 'f';
constexpr double seconds_to_connect = 30;

// Sent first on a connection, so that no other program can impersonate a rank.
struct Greeting {
  uint64_t secret;
  int32_t rank;
};

[[noreturn]] void fail_to_connect(const std::string& what) {
  throw Error(fmt::format("no connection for the heartbeat between ranks: {}", what),
              "--comm-timeout 0 disables it, but then nothing notices a rank that hangs");
}

Socket listening_socket(bool on_one_host) {
  Socket s(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_addr.s_addr = htonl(on_one_host ? INADDR_LOOPBACK : INADDR_ANY);
  if (s.number() < 0 || bind(s.number(), reinterpret_cast<sockaddr*>(&any), sizeof(any)) != 0 ||
      listen(s.number(), SOMAXCONN) != 0)
    fail_to_connect(std::strerror(errno));
  return s;
}

std::string port_of(const Socket& s) {
  sockaddr_in own{};
  socklen_t length = sizeof(own);
  getsockname(s.number(), reinterpret_cast<sockaddr*>(&own), &length);
  return std::to_string(ntohs(own.sin_port));
}

// Waits for data, at most for the connection timeout.
bool receive_all(const Socket& s, void* data, size_t bytes) {
  for (char* at = static_cast<char*>(data); bytes > 0;) {
    pollfd readable{s.number(), POLLIN, 0};
    if (poll(&readable, 1, int(1000 * seconds_to_connect)) <= 0) return false;
    const ssize_t received = recv(s.number(), at, bytes, 0);
    if (received <= 0) return false;
    at += received;
    bytes -= size_t(received);
  }
  return true;
}

Socket connection_to(const std::string& host, const std::string& port, const Greeting& greeting) {
  addrinfo hints{.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *found = nullptr;
  if (const int failure = getaddrinfo(host.c_str(), port.c_str(), &hints, &found))
    fail_to_connect(fmt::format("{}: {}", host, gai_strerror(failure)));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> addresses(found, freeaddrinfo);
  Socket s(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (s.number() < 0 || connect(s.number(), found->ai_addr, found->ai_addrlen) != 0 ||
      send(s.number(), &greeting, sizeof(greeting), MSG_NOSIGNAL) != sizeof(greeting))
    fail_to_connect(fmt::format("{}:{}: {}", host, port, std::strerror(errno)));
  return s;
}

}  // namespace

class Heartbeat::Pulse {
 public:
  Pulse(Communicator& ranks, double seconds, std::function<void(const Loss&)> lost)
      : seconds_(seconds), size_(ranks.size()), lost_(std::move(lost)) {
    ranks.rank() == 0 ? accept_all(ranks) : connect_to_rank_0(ranks);
    thread_ = new_thread([this] { return std::jthread([this](std::stop_token stop) { run(stop); }); });
  }

  // The last byte that the others receive.
  void end(char farewell) {
    thread_.request_stop();
    thread_.join();
    for (const Peer& peer : peers_) send(peer.socket.number(), &farewell, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
  }

 private:
  struct Peer {
    int rank;
    std::string host;
    Socket socket;
    Clock silence = {};
    bool gone = false, failed = false;
  };

  // Rank 0 broadcasts its address, and identifies the ranks that connect by their secret.
  void accept_all(Communicator& ranks) {
    const std::vector<std::string> hosts = ranks.gather(host_name());
    const bool one_host = std::ranges::count(hosts, hosts[0]) == std::ssize(hosts);
    const Socket listening = listening_socket(one_host);
    std::random_device random;
    const uint64_t secret = uint64_t(random()) << 32 | random();
    ranks.broadcast(
        fmt::format("{} {} {} {}", hosts[0], one_host ? "127.0.0.1" : hosts[0], port_of(listening), secret));
    while (int(peers_.size()) < size_ - 1) {
      pollfd waiting{listening.number(), POLLIN, 0};
      if (poll(&waiting, 1, int(1000 * seconds_to_connect)) <= 0)
        fail_to_connect(fmt::format("only {} of {} ranks have connected", peers_.size() + 1, size_));
      Socket s(accept4(listening.number(), nullptr, nullptr, SOCK_CLOEXEC));
      Greeting greeting{};
      if (s.number() >= 0 && receive_all(s, &greeting, sizeof(greeting)) && greeting.secret == secret &&
          greeting.rank > 0 && greeting.rank < size_)
        peers_.push_back({greeting.rank, hosts[size_t(greeting.rank)], std::move(s)});
    }
  }

  void connect_to_rank_0(Communicator& ranks) {
    ranks.gather(host_name());
    std::istringstream where(ranks.broadcast(std::string()));
    std::string host, address, port;
    uint64_t secret = 0;
    where >> host >> address >> port >> secret;
    peers_.push_back({0, host, connection_to(address, port, {secret, ranks.rank()})});
  }

  void run(const std::stop_token& stop) {
    const int pause = int(1000 * std::min(1.0, seconds_ / 5));
    while (!stop.stop_requested()) {
      for (const Peer& peer : peers_)
        if (!peer.gone) send(peer.socket.number(), &beat, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
      const Clock since;
      while (!stop.stop_requested() && since.seconds() * 1000 < pause) poll(nullptr, 0, std::min(pause, 50));
      // This process was stopped itself (Ctrl-Z, a suspended job), and the others may have been, too.
      if (since.seconds() > seconds_ / 2)
        for (Peer& peer : peers_) peer.silence = Clock();
      for (Peer& peer : peers_) listen_to(peer);
      const auto silent = std::ranges::find_if(peers_, [&](const Peer& peer) {
        return !peer.gone && peer.silence.seconds() > (peer.failed ? seconds_for_errors : seconds_);
      });
      if (silent == peers_.end()) continue;
      return lost_({fmt::format("rank {} of {} ({}) has {}", silent->rank, size_, silent->host,
                                silent->failed ? "ended with an error"
                                               : fmt::format("sent no sign of life for {:g} s", seconds_)),
                    silent->failed});
    }
  }

  // A closed connection counts as silence, too: the code that waits for that rank may report a better reason.
  void listen_to(Peer& peer) {
    char heard[64];
    for (ssize_t count; (count = recv(peer.socket.number(), heard, sizeof(heard), MSG_DONTWAIT)) > 0;) {
      peer.silence = Clock();
      const std::string_view bytes(heard, size_t(count));
      peer.failed |= bytes.find(failure) != bytes.npos;
      peer.gone = bytes.find(goodbye) != bytes.npos;
      if (peer.gone) return;
    }
  }

  const double seconds_;
  const int size_;
  const std::function<void(const Loss&)> lost_;
  std::vector<Peer> peers_;  // on rank 0 all others, on others rank 0
  std::jthread thread_;
};

Heartbeat::Heartbeat(Communicator& ranks, double seconds, std::function<void(const Loss&)> lost) {
  if (ranks.size() > 1 && seconds > 0) pulse_ = std::make_unique<Pulse>(ranks, seconds, std::move(lost));
}

void Heartbeat::finish() {
  if (pulse_) pulse_->end(goodbye);
}

void Heartbeat::fail() {
  if (pulse_) pulse_->end(failure);
}

Heartbeat::~Heartbeat() = default;

}  // namespace dragoman
