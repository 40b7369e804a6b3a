#pragma once
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/file.h"
#include "comm/communicator.h"
#include "comm/socket.h"

namespace dragoman {

/// What tells this machine from others, for processes that could share a file in memory: the kernel's boot, the host
/// name and the network namespace. Containers with one of these of their own count as machines.
std::string machine_identity();

/// The ranks that run on one machine, and a way for the first of them to give the others open files. It needs no
/// communicator, so that another thread than that of the communicator can use it.
class MachineRanks {
 public:
  /// All ranks make one together. Those of one `identity` are on one machine.
  explicit MachineRanks(Communicator& ranks, const std::string& identity = machine_identity());

  int size() const { return size_; }
  /// The number of this rank among those of its machine.
  int index() const { return index_; }
  bool first() const { return index_ == 0; }

  /// Gives all others a file and what there is to say of it, at most some 100 KB. One that has gone is left out.
  void give(const FileDescriptor& file, const std::string& text) const;

  struct Given {
    FileDescriptor file;
    std::string text;
  };
  /// The next file that the first rank gives; none if stopped before. RankLost if it has ended.
  std::optional<Given> next_file(const std::stop_token& stop) const;

 private:
  int size_ = 0, index_ = 0;
  std::vector<Socket> connections_;  // of the first rank to all others, of those to the first
};

}  // namespace dragoman
