#pragma once
#include <string>
#include <vector>

#include "runlog/run_log.h"

namespace dragoman {

/// "[######······] 42%  loss 3.214  12,345 words/s  ETA 0:12:34", redrawn in place on a terminal; nothing elsewhere,
/// or unless wanted.
class ProgressBar {
 public:
  explicit ProgressBar(bool wanted);
  ~ProgressBar() { clear(); }
  void draw(const RunMoment& now, const RunReport& so_far);
  void clear();  // before anything else is printed

 private:
  bool shown_, drawn_ = false;
  double last_ = -1;
};

/// Lines for people on stderr, with a progress bar below them on a terminal.
class TextLog : public RunSink {
 public:
  explicit TextLog(bool progress_bar) : bar_(progress_bar) {}
  void take(const RunMoment& now, const RunEvent& event) override;
  void tick(const RunMoment& now, const RunReport& so_far) override { bar_.draw(now, so_far); }

 private:
  ProgressBar bar_;
};

/// Marian's line: "Ep. 1 : Up. 1000 : Sen. 1,234 : Cost 4.12345678 : Time 3.21s : 12345.67 words/s : gNorm 1.2345",
/// with the learning rate and an ETA at the end. Words are target tokens.
std::string report_line(const RunMoment& now, const RunReport& report);

/// Marian's lines, one per metric: "[valid] Ep. 1 : Up. 1000 : bleu : 30.5 : new best".
std::vector<std::string> validation_lines(const RunMoment& now, const RunValidation& validation);

std::string grouped_seconds(double seconds);  // "1:02:03"

}  // namespace dragoman
