#include "serve/access_log.h"

#include <fmt/chrono.h>

#include "base/error.h"
#include "base/log.h"
#include "serve/fields.h"

namespace dragoman {

AccessLog::AccessLog(const std::string& path) {
  if (path.empty()) return;
  file_.emplace(path == "-" ? FileDescriptor::to_write(path) : FileDescriptor::to_append(path));
}

void AccessLog::write(const AccessEntry& entry) {
  if (!file_) return;
  nlohmann::ordered_json line;
  line["time"] = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  line["peer"] = entry.peer;
  line["method"] = entry.method;
  line["path"] = entry.path;
  line["status"] = entry.status;
  line["seconds"] = entry.seconds;
  line["bytes_in"] = entry.bytes_in;
  try {
    file_->write(to_text(line) + "\n");
  } catch (const Error& error) {
    log_warning("The access log ends here: {}", error.what());
    file_.reset();
  } catch (const BrokenPipe&) {
    log_warning("The access log ends here: its reader has closed it");
    file_.reset();
  }
}

}  // namespace dragoman
