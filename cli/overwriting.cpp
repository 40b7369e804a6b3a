#include "cli/overwriting.h"

#include <filesystem>

#include "base/error.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;

// Where the shell took stdin or stdout from, which may be a file, too.
fs::path opened(const std::string& file, const char* standard) {
  return file == "-" ? fs::path(standard) : fs::path(file);
}

bool same_file(const fs::path& one, const fs::path& other) {
  std::error_code ignored;  // what is not there, or not to be seen, is the same as nothing
  return fs::is_regular_file(other, ignored) && fs::equivalent(one, other, ignored);
}

}  // namespace

void refuse_overwriting(const std::vector<NamedFiles>& read, const NamedFiles& written) {
  for (const std::string& to : written.files)
    for (const auto& [option, files] : read)
      for (const std::string& from : files)
        if (!to.empty() && same_file(opened(from, "/dev/stdin"), opened(to, "/dev/stdout")))
          throw Error(fmt::format("--{} and --{} are both {}: what it holds would be lost", written.option, option,
                                  to == "-" ? from : to),
                      "write to another file");
}

}  // namespace dragoman
