#include "runlog/valid_log.h"

#include "runlog/message_file.h"
#include "runlog/text_log.h"

namespace dragoman {

void ValidLog::take(const RunMoment& now, const RunEvent& event) {
  const auto* validation = std::get_if<RunValidation>(&event);
  if (!validation) return;
  for (const std::string& line : validation_lines(now, *validation)) file_.write(with_time(line));
}

}  // namespace dragoman
