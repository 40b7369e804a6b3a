#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

/// An option and the files that it names; "-" is stdin or stdout.
struct NamedFiles {
  std::string_view option;
  std::vector<std::string> files;
};

/// Throws Error where a file that is to be written is also one that is read, under whatever name: what it holds would
/// be lost. Only of what is there, and a regular file.
void refuse_overwriting(const std::vector<NamedFiles>& read, const NamedFiles& written);

}  // namespace dragoman
