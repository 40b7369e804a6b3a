#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "comm/communicator.h"

namespace dragoman {

/// Consecutive items that rank 0 has read, concatenated, and the number of the first one. An item is a line with its
/// line break, or several lines that belong together.
struct Share {
  uint64_t first = 0;
  std::string text;
};

/// Iterates over the lines of a text, each of which ends with a line break.
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
  std::function<std::vector<std::string>()> next;                       // the items of a round; empty at the end
  std::function<void(const std::vector<std::string>& results)> finish;  // results of the ranks, in the order of items
};

/// Distributes work on items over the ranks, which call it together. In each round, every rank gets consecutive items
/// with about equally many bytes; `work`, which appends to the result of its rank, is not called on a rank without
/// items. `rounds` is null on ranks other than 0. If `work` fails on a rank, rank 0 first finishes the round with the
/// results of the ranks before it and what that rank has appended so far. Then it throws the Error of the first failed
/// items, which names that rank unless it is rank 0.
void share_work(Communicator& ranks, const Rounds* rounds,
                const std::function<void(const Share&, std::string& result)>& work);

}  // namespace dragoman
