#pragma once
#include <fmt/format.h>

#include <iterator>
#include <sstream>
#include <string>

#include "base/error.h"
#include "base/log.h"
#include "cli/command.h"

namespace dragoman {

enum Outcome { runs, ignored, refused };

inline Strings split(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

/// What a command makes of a command line and of the files in it.
template <class Options>
class Answer {
 public:
  Answer(Table<Options> table, const Strings& arguments) {
    table.inherit = nullptr;  // reads --pretrained-model
    const LogSink sink = [this](LogLevel, std::string_view message) { said += fmt::format("{}\n", message); };
    const LogScope scope(&sink);
    try {
      Options options;
      parse(table, arguments, options);
    } catch (const Error& e) {
      said = fmt::format("{} | {}", e.what(), e.hint());
      fails = true;
    }
  }

  Outcome outcome() const {
    if (fails) return refused;
    return said.find(" ignored") != said.npos ? ignored : runs;
  }

  std::string said;
  bool fails = false;
};

}  // namespace dragoman
