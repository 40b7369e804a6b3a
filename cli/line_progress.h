#pragma once
#include "base/clock.h"
#include "base/line_reader.h"

namespace dragoman {

/// "12,345 lines  67.8 lines/s  42%  ETA 0:12:34" on stderr, redrawn in place, from 2 s on. Only if stderr is a
/// terminal and stdout is not, so that results and progress do not mix.
class LineProgress {
 public:
  explicit LineProgress(bool quiet);
  ~LineProgress() { clear(); }
  void draw(int64_t done, const LineReader& in);
  void clear();  // before anything else is printed

 private:
  Clock clock_;
  bool shown_, drawn_ = false;
  double next_ = 2;  // seconds
};

/// The text shown. `share` is the fraction of the input that has been read, which is `read` lines; below 0: unknown.
std::string progress_line(int64_t done, int64_t read, double share, double seconds);

}  // namespace dragoman
