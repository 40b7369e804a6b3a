#include <cctype>
#include <filesystem>

#include "base/error.h"
#include "base/symbolic_links.h"
#include "options/overwriting.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;

bool is_placeholder(std::string_view text) {
  return text.size() >= 3 && text[0] == '{' && text[2] == '}' &&
         std::string_view("UEBT").find(text[1]) != std::string_view::npos;
}

// Whether `name` is `pattern` with numbers for {U}, {E}, {B} and {T}.
bool may_become(std::string_view pattern, std::string_view name) {
  while (!pattern.empty() && !is_placeholder(pattern)) {
    if (name.empty() || name[0] != pattern[0]) return false;
    pattern.remove_prefix(1), name.remove_prefix(1);
  }
  if (pattern.empty()) return name.empty();
  while (!name.empty() && std::isdigit(static_cast<unsigned char>(name[0]))) {
    name.remove_prefix(1);
    if (may_become(pattern.substr(3), name)) return true;
  }
  return false;
}

// Whether both names refer to the same file, also through hard or symbolic links.
bool is_same(const fs::path& one, const fs::path& other) {
  std::error_code ignored;  // an inaccessible file counts as missing
  if (fs::exists(one, ignored) && fs::exists(other, ignored))
    return fs::is_regular_file(one, ignored) && fs::equivalent(one, other, ignored);
  const fs::path real = without_links(one), another = without_links(other);
  return real == another || (real.parent_path() == another.parent_path() &&
                             may_become(real.filename().string(), another.filename().string()));
}

// The name itself, and the existing files that match it as a pattern.
std::vector<fs::path> names_of(const std::string& written) {
  std::vector<fs::path> names = {written};
  if (written.find('{') == std::string::npos) return names;
  const fs::path path(written), folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (may_become(path.filename().string(), entry.path().filename().string())) names.push_back(entry.path());
  return names;
}

// stdin and stdout may be files, redirected by the shell.
std::string opened(const std::string& file, const char* standard) { return file == "-" ? standard : file; }

bool is_written_to(const std::string& written, const std::string& other) {
  if (written.empty() || other.empty()) return false;
  for (const fs::path& name : names_of(written))
    if (is_same(name, other)) return true;
  return false;
}

bool is_standard_output(const std::string& file) { return file == "/dev/stdout" || file == "/dev/stderr"; }

// How a message names a file that has two names.
std::string common_name(const std::string& one, const std::string& other) {
  if (one == "-" && other == "-") return "the file that is stdin and stdout";
  const bool is_pattern = one.find('{') != std::string::npos;
  return one == "-" || (is_pattern && other != "-") ? other : one;
}

void refuse_two_uses(const NamedFiles& one, const NamedFiles& other) {
  for (const std::string& from : one.files)
    for (const std::string& file : other.files) {
      const std::string to = opened(file, "/dev/stdout"), before = opened(from, "/dev/stdout");
      if (is_standard_output(to) && is_standard_output(before)) continue;
      if (is_written_to(to, before) || is_written_to(before, to))
        throw Error(fmt::format("{} and {} are both {}: one would overwrite the other", one.what, other.what, file),
                    "name two different files");
    }
}

}  // namespace

void refuse_overwriting(const CommandFiles& files) {
  for (size_t w = 0; w < files.written.size(); ++w) {
    const NamedFiles& written = files.written[w];
    for (const std::string& to : written.files)
      for (const auto& [what, read] : files.read)
        for (const std::string& from : read)
          if (is_written_to(opened(to, "/dev/stdout"), opened(from, "/dev/stdin")))
            throw Error(fmt::format("{} and {} are both {}: its content would be lost", written.what, what,
                                    common_name(to, from)),
                        "write to another file");
    for (size_t before = 0; before < w; ++before) refuse_two_uses(files.written[before], written);
  }
}

}  // namespace dragoman
