#include "serve/access_log.h"

#include <ctime>
#include <utility>

#include "base/error.h"
#include "base/json_text.h"
#include "base/log.h"
#include "base/utc_time.h"
#include "serve/fields.h"

namespace dragoman {

AccessLog::AccessLog(const std::string& path) : path_(path) {
  if (path.empty()) return;
  file_.emplace(path == "-" ? FileDescriptor::to_write(path) : FileDescriptor::to_append(path));
}

// A pipe keeps its name, and opening it would wait for a reader.
void AccessLog::reopen() {
  if (!file_ || path_ == "-") return;
  try {
    if (!file_->is_regular()) return;
    FileDescriptor file = FileDescriptor::to_append(path_);
    cut_ = cut_ && file.size() > 0;  // else another file
    failing_ = false;
    file_.emplace(std::move(file));
  } catch (const Error& error) {
    log_warning("The access log cannot be opened again, its old file stays in use: {}", error.what());
  }
}

void AccessLog::write(const AccessEntry& entry) {
  if (!file_) return;
  nlohmann::ordered_json line;
  line["time"] = utc_time(std::time(nullptr));
  line["peer"] = entry.peer;
  line["method"] = entry.method;
  line["path"] = entry.path;
  line["status"] = entry.status;
  line["seconds"] = entry.seconds;
  line["bytes_in"] = entry.bytes_in;
  write_line(json_text(line));
}

void AccessLog::write_line(const std::string& line) {
  try {
    const int64_t before = file_->size();
    try {
      file_->write((cut_ ? "\n" : "") + line + "\n");
      failing_ = cut_ = false;
    } catch (...) {
      if (const int64_t written = file_->size() - before; written > 0) cut_ = !cut_ || written > 1;
      throw;
    }
  } catch (const Error& error) {
    lose(error.what());
  } catch (const BrokenPipe&) {
    lose("its reader has closed it");
  }
}

void AccessLog::lose(const std::string& reason) {
  if (!std::exchange(failing_, true)) log_warning("Entries of the access log are lost: {}", reason);
}

}  // namespace dragoman
