#pragma once
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/file.h"
#include "comm/communicator.h"
#include "comm/socket.h"

namespace dragoman {

/// Identifies this machine, to find processes that can share an in-memory file: the kernel's boot id, the host name and
/// the network namespace. A container that differs in one of these counts as another machine.
std::string machine_identity();

/// The ranks that run on one machine. The first of them can pass open files to the others. Does not use the
/// communicator, so that other threads than the communicator's can use it.
class MachineRanks {
 public:
  /// All ranks create it together. Ranks with the same `identity` are on one machine.
  explicit MachineRanks(Communicator& ranks, const std::string& identity = machine_identity());

  int size() const { return size_; }
  /// The index of this rank among those of its machine.
  int index() const { return index_; }
  bool first() const { return index_ == 0; }

  /// Passes a file and a text about it, of at most some 100 KB, to all others. Ranks that have ended are skipped.
  void give(const FileDescriptor& file, const std::string& text) const;

  struct Given {
    FileDescriptor file;
    std::string text;
  };
  /// The next file from the first rank; nullopt if stopped before it arrives. Throws RankLost if the first rank has
  /// ended.
  std::optional<Given> next_file(const std::stop_token& stop) const;

 private:
  int size_ = 0, index_ = 0;
  std::vector<Socket> connections_;  // on the first rank to all others, on others to the first
};

}  // namespace dragoman
