#pragma once
#include "base/line_reader.h"
#include "train/progress.h"

namespace dragoman {

/// "12,345 lines  67.8 lines/s  42%  ETA 0:12:34" on stderr, redrawn in place while a file is worked through for more
/// than a moment. Only where stderr is a terminal and stdout is none: results and a bar would mix.
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

/// What it says. `share` of the input is read, as far as `read` lines; below 0: nobody knows how much there is.
std::string progress_line(int64_t done, int64_t read, double share, double seconds);

}  // namespace dragoman
