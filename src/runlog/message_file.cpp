#include "runlog/message_file.h"

#include <ctime>

#include "base/error.h"

namespace dragoman {

MessageFile::MessageFile(const std::string& path)
    : file_(FileDescriptor::to_append_lines(path)),
      other_(bound_log()),
      both_([this](LogLevel level, std::string_view message) {
        write(message);
        if (other_) (*other_)(level, message);
      }) {}

void MessageFile::write(std::string_view message) {
  const std::lock_guard lock(mutex_);
  if (done_) return;
  std::string why;
  try {
    return file_.write(with_time(message));
  } catch (const Error& error) {
    why = failure_ = error.what();
  } catch (const BrokenPipe&) {
    why = file_.name() + ": its reader has closed it";
  }
  done_ = true;
  if (other_) (*other_)(LogLevel::warning, fmt::format("messages no longer go to --log: {}", why));
}

void MessageFile::close() {
  const std::lock_guard lock(mutex_);
  done_ = true;
  file_.close();
  if (!failure_.empty()) throw Error("not all messages were written: --log: " + failure_);
}

std::string with_time(std::string_view message) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  char text[32];
  const size_t bytes = std::strftime(text, sizeof text, "[%Y-%m-%d %H:%M:%S] ", &parts);
  return fmt::format("{}{}\n", std::string_view(text, bytes), message);
}

}  // namespace dragoman
