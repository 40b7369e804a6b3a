#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "comm/communicator.h"

namespace dragoman {

/// Neighbouring items that rank 0 has read, end to end, and the number of the first. An item is a line with its line
/// break, or several lines that belong together.
struct Share {
  uint64_t first = 0;
  std::string text;
};

/// Goes through the lines of a text, each of which ends with a line break.
class LineCursor {
 public:
  explicit LineCursor(std::string_view text) : rest_(text) {}
  bool at_end() const { return rest_.empty(); }
  std::string_view next() {
    const size_t length = rest_.find('\n');
    const std::string_view line = rest_.substr(0, length);
    rest_.remove_prefix(length + 1);
    return line;
  }

 private:
  std::string_view rest_;
};

/// What rank 0 does before and after each round of work.
struct Rounds {
  std::function<std::vector<std::string>()> next;                       // the items of a round; none at the end
  std::function<void(const std::vector<std::string>& results)> finish;  // of the ranks, in the order of items
};

/// Shares work on items among ranks, which call it together: in each round a rank has neighbouring items with about as
/// many bytes; without any it does not work. `rounds` is null on other ranks than 0. If `work` fails on a rank, rank 0
/// throws the Error for the first items that failed, which names that rank unless it is rank 0.
void share_work(Communicator& ranks, const Rounds* rounds, const std::function<std::string(const Share&)>& work);

}  // namespace dragoman
