#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

/// An option, as named in messages, and its files; "-" is stdin or stdout, an empty name is no file. {U}, {E}, {B} and
/// {T} in the names of written files stand for numbers.
struct NamedFiles {
  std::string what;
  std::vector<std::string> files;
};

/// All files that a command reads and writes.
struct CommandFiles {
  std::vector<NamedFiles> read, written;
};

/// Throws Error if a file to be written is also read, or written for another purpose, under any name: one of the two
/// would be lost. Devices and pipes are exempt. Call before anything is opened.
void refuse_overwriting(const CommandFiles& files);

}  // namespace dragoman
