#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>

#include <csignal>
#include <exception>
#include <filesystem>
#include <new>
#include <string>

#include "base/error.h"
#include "base/file.h"
#include "base/file_error.h"
#include "cli/command.h"
#include "cli/man.h"
#include "cli/ranks.h"
#include "cli/stderr_log.h"
#include "cli/version.h"
#include "options/foreign.h"
#include "options/suggest.h"
#include "tensor/arena.h"

namespace dragoman {
namespace {

const Command& command_called(const std::string& name) {
  std::vector<std::string> names;
  for (const Command& command : all_commands()) {
    if (command.about.name == name) return command;
    names.emplace_back(command.about.name);
  }
  if (const std::string_view equivalent = foreign_program(name); !equivalent.empty())
    throw Error(fmt::format("there is no command '{}'", name), std::string(equivalent));
  const std::string near = did_you_mean(name, names);
  throw Error(fmt::format("there is no command '{}', only {}", name, fmt::join(names, ", ")),
              near.empty() ? "dragoman --help lists the commands" : near);
}

bool asks_for_help(const std::string& word) { return word == "help" || word == "--help" || word == "-h"; }

int help(const Strings& topics) {
  if (topics.empty() || asks_for_help(topics[0]))
    print_page(overview(all_commands()));
  else if (topics[0] == "--markdown")
    print_page(options_page(all_commands()));
  else if (topics[0] == "--man")
    print_page(man_page(all_commands()));
  else
    return command_called(topics[0]).run({fmt::format("--help={}", topics.size() > 1 ? topics[1] : every_option)});
  return 0;
}

int run(const Strings& arguments) {
  if (arguments.empty()) throw Error("no command given", "dragoman --help lists the commands");
  const std::string& first = arguments[0];
  const Strings rest(arguments.begin() + 1, arguments.end());
  if (first == "--version" || first == "-V" || first == "version") return print_page(version_page()), 0;
  if (asks_for_help(first)) return help(rest);
  return command_called(first).run(rest);
}

// If one of these is closed, the next file opened would get its number, and warnings would be written to that file.
// Reading a closed stdin and writing to a closed stdout stay errors; only messages to a closed stderr are dropped.
void open_standard_streams() {
  constexpr int modes[] = {O_WRONLY, O_RDONLY, O_RDWR};
  for (int number = 0; number < 3; ++number)
    if (fcntl(number, F_GETFD) < 0) open("/dev/null", modes[number]);
}

// A step of a search frees about a megabyte and the next one takes it again. By default glibc returns it to the system
// in between, and the system clears it before it gives it back.
void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
  mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the largest that glibc itself would choose
#endif
}

}  // namespace
}  // namespace dragoman

// 0: done, even if the reader of stdout left early; 2: an error that the user can correct; 1: out of memory, or a bug.
int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // writing to a closed pipe then throws BrokenPipe
  std::signal(SIGXFSZ, SIG_IGN);  // exceeding the file size limit (ulimit -f) is then an error like a full disk
  dragoman::open_standard_streams();
  dragoman::keep_freed_memory();
  const dragoman::LogSink messages = dragoman::stderr_log(false);
  const dragoman::LogScope log(&messages);
  try {
    return dragoman::run({argv + 1, argv + argc});
  } catch (const dragoman::BrokenPipe&) {
    return 0;
  } catch (const dragoman::Error& error) {
    return dragoman::end_with(error);
  } catch (const std::filesystem::filesystem_error& error) {
    return dragoman::end_with(dragoman::error_of(error));
  } catch (const std::bad_alloc&) {
    return dragoman::end_with(dragoman::OutOfMemory("out of memory"));
  } catch (const std::exception& error) {
    dragoman::report(error.what(), "this should not happen; please report it with the command");
    return 1;
  }
}
