#include "comm/machine_ranks.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

namespace dragoman {
namespace {

constexpr int seconds_to_meet = 30;
constexpr size_t longest_text = 1 << 17;

[[noreturn]] void fail_to_meet(const std::string& what) {
  throw Error(fmt::format("no connection between the processes of a machine: {}", what),
              "ulimit -n shows the limit on open files");
}

// Gathers each rank's text on all ranks, by rank.
std::vector<std::string> shared_texts(Communicator& ranks, const std::string& own) {
  std::string all;
  for (const std::string& text : ranks.gather(own)) all += text + '\0';
  all = ranks.broadcast(all);
  std::vector<std::string> texts;
  for (size_t at = 0, end; at < all.size(); at = end + 1) {
    end = all.find('\0', at);
    texts.push_back(all.substr(at, end - at));
  }
  return texts;
}

// An abstract socket name, chosen by the kernel: "@0a1b2" in messages.
std::string listen_on(const Socket& s) {
  sockaddr_un own{.sun_family = AF_UNIX};
  socklen_t length = sizeof(own);
  if (s.number() < 0 || bind(s.number(), reinterpret_cast<sockaddr*>(&own), sizeof(sa_family_t)) != 0 ||
      listen(s.number(), SOMAXCONN) != 0 || getsockname(s.number(), reinterpret_cast<sockaddr*>(&own), &length) != 0)
    fail_to_meet(std::strerror(errno));
  return {own.sun_path + 1, length - sizeof(sa_family_t) - 1};
}

Socket local_socket() { return Socket(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)); }

Socket connection_to(const std::string& name) {
  Socket s = local_socket();
  sockaddr_un first{.sun_family = AF_UNIX};
  std::copy(name.begin(), name.end(), first.sun_path + 1);
  const auto length = socklen_t(sizeof(sa_family_t) + 1 + name.size());
  if (s.number() < 0 || connect(s.number(), reinterpret_cast<sockaddr*>(&first), length) != 0)
    fail_to_meet(std::strerror(errno));
  return s;
}

// Rejects programs of other users.
bool is_of_this_user(const Socket& s) {
  ucred peer{};
  socklen_t length = sizeof(peer);
  return getsockopt(s.number(), SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.uid == geteuid();
}

std::vector<Socket> accepted(const Socket& listening, int count) {
  std::vector<Socket> connections;
  while (int(connections.size()) < count) {
    pollfd waiting{listening.number(), POLLIN, 0};
    if (poll(&waiting, 1, 1000 * seconds_to_meet) <= 0)
      fail_to_meet(fmt::format("only {} of {} ranks have connected", connections.size() + 1, count + 1));
    Socket s(accept4(listening.number(), nullptr, nullptr, SOCK_CLOEXEC));
    if (s.number() < 0) fail_to_meet(std::strerror(errno));
    if (is_of_this_user(s)) connections.push_back(std::move(s));
  }
  return connections;
}

// A message with room for a file descriptor.
struct Message {
  explicit Message(void* text, size_t length) : bytes{text, length} {
    head.msg_iov = &bytes;
    head.msg_iovlen = 1;
    head.msg_control = control;
    head.msg_controllen = sizeof(control);
  }
  iovec bytes;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr head = {};
};

}  // namespace

std::string machine_identity() {
  std::string boot = read_file("/proc/sys/kernel/random/boot_id");
  std::erase(boot, '\n');
  return fmt::format("{} {} {}", boot, host_name(), std::filesystem::read_symlink("/proc/self/ns/net").string());
}

MachineRanks::MachineRanks(Communicator& ranks, const std::string& identity) {
  const std::vector<std::string> machines = shared_texts(ranks, identity);
  const auto first = std::ranges::find(machines, identity), self = machines.begin() + ranks.rank();
  size_ = int(std::ranges::count(machines, identity));
  index_ = int(std::count(machines.begin(), self, identity));
  const Socket listening = this->first() && size_ > 1 ? local_socket() : Socket(-1);
  const std::vector<std::string> names =
      shared_texts(ranks, this->first() && size_ > 1 ? listen_on(listening) : std::string());
  if (!this->first())
    connections_.push_back(connection_to(names[size_t(first - machines.begin())]));
  else
    connections_ = accepted(listening, size_ - 1);
}

void MachineRanks::give(const FileDescriptor& file, const std::string& text) const {
  invariant(first() && text.size() <= longest_text, "the text about a file is too long, or this is not the first rank");
  std::string copy = text;
  for (const Socket& other : connections_) {
    Message message(copy.data(), copy.size());
    cmsghdr* const with = CMSG_FIRSTHDR(&message.head);
    *with = {.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    const int number = file.number();
    std::memcpy(CMSG_DATA(with), &number, sizeof(int));
    while (sendmsg(other.number(), &message.head, MSG_NOSIGNAL) < 0 && errno == EINTR) continue;
  }
}

std::optional<MachineRanks::Given> MachineRanks::next_file(const std::stop_token& stop) const {
  const Socket& of_first = connections_.at(0);
  for (pollfd readable{of_first.number(), POLLIN, 0}; poll(&readable, 1, 50) <= 0;)
    if (stop.stop_requested()) return {};
  std::string text(longest_text, '\0');
  Message message(text.data(), text.size());
  ssize_t received = 0;
  while ((received = recvmsg(of_first.number(), &message.head, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) continue;
  if (received <= 0) throw RankLost("the first rank of this machine has ended");
  text.resize(size_t(received));
  const cmsghdr* const with = CMSG_FIRSTHDR(&message.head);
  if (!with || with->cmsg_type != SCM_RIGHTS)
    throw Error("the encoded text, a file of the first rank of this machine, cannot be opened: Too many open files",
                "ulimit -n shows the limit on open files");
  int number = -1;
  std::memcpy(&number, CMSG_DATA(with), sizeof(int));
  const Socket file(number);
  return Given{FileDescriptor::to_read(fmt::format("/proc/self/fd/{}", number)), std::move(text)};
}

}  // namespace dragoman
