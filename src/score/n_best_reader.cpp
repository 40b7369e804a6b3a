#include "score/n_best_reader.h"

#include "base/error.h"
#include "base/grouped.h"

namespace dragoman {

NBestReader::NBestReader(const std::array<std::string, 2>& paths)
    : source_(paths[0]), list_(paths[1], list_of_entries) {}

NBestReader::Window NBestReader::next(int64_t max_pairs) {
  Window window;
  std::string line;
  size_t bytes = 0;
  while (int64_t(window.entries.size()) < max_pairs && bytes < window_bytes && (window.entries.empty() || ready()) &&
         list_.next_short(line, longest_line_to_score)) {
    NBestEntry entry = n_best_entry(line, fmt::format("{}, line {}", list_.name(), list_.lines()));
    go_to_source(entry.line);
    window.source.push_back(line_);
    window.target.push_back(entry.text);
    bytes += line_.size() + line.size();
    window.entries.push_back(std::move(entry));
  }
  return window;
}

void NBestReader::go_to_source(int64_t line) {
  require(line >= at_,
          "{}, line {}: belongs to source line {}, but follows an entry of line {}; expected increasing numbers",
          list_.name(), list_.lines(), line, at_);
  for (; at_ < line; ++at_)
    require(source_.next_short(line_, longest_line_to_score),
            "{}, line {}: belongs to source line {} (counted from 0), but {} has {} lines", list_.name(), list_.lines(),
            line, source_.name(), grouped(source_.lines()));
}

}  // namespace dragoman
