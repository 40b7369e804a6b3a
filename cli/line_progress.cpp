#include "cli/line_progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "base/grouped.h"
#include "runlog/text_log.h"

namespace dragoman {

LineProgress::LineProgress(bool quiet) : shown_(!quiet && isatty(STDERR_FILENO) == 1 && isatty(STDOUT_FILENO) != 1) {}

void LineProgress::draw(int64_t done, const LineReader& in) {
  const double seconds = clock_.seconds();
  if (!shown_ || seconds < next_) return;
  next_ = seconds + 0.2;
  fmt::print(stderr, "\r\x1b[K{}", progress_line(done, in.lines(), in.share(), seconds));
  std::fflush(stderr);
  drawn_ = true;
}

void LineProgress::clear() {
  if (!drawn_) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  drawn_ = false;
}

// Lines that are read but not yet done count as remaining.
std::string progress_line(int64_t done, int64_t read, double share, double seconds) {
  std::string line = fmt::format("{} lines  {:.1f} lines/s", grouped(done), double(done) / seconds);
  const double part = read > 0 ? share * double(done) / double(read) : 0;
  if (part > 0) line += fmt::format("  {:.0f}%  ETA {}", part * 100, grouped_seconds(seconds / part - seconds));
  return line;
}

}  // namespace dragoman
