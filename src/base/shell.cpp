#include "base/shell.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <new>
#include <thread>
#include <utility>

#include "base/new_thread.h"
#include "base/thread_signals.h"

namespace dragoman {
namespace {

class Pipe {
 public:
  Pipe() {
    if (pipe2(ends_, O_CLOEXEC) != 0) ends_[0] = ends_[1] = -1;
  }
  Pipe(const Pipe&) = delete;
  ~Pipe() {
    stop_reading();
    end();
  }
  bool opened() const { return ends_[0] >= 0; }
  int to_read() const { return ends_[0]; }
  int to_write() const { return ends_[1]; }
  void stop_reading() {
    if (ends_[0] >= 0) close(std::exchange(ends_[0], -1));
  }
  void end() {
    if (ends_[1] >= 0) close(std::exchange(ends_[1], -1));
  }

 private:
  int ends_[2];
};

// The number of its process; -1: not started.
pid_t start(const std::string& command, int output, bool own_session) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  if (own_session) posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  const char* const arguments[] = {"sh", "-c", command.c_str(), nullptr};
  pid_t shell = -1;
  if (posix_spawn(&shell, "/bin/sh", &files, &attributes, const_cast<char* const*>(arguments), environ) != 0)
    shell = -1;
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return shell;
}

// Its number stays taken.
void wait_for_end(pid_t process) {
  siginfo_t ended;
  while (waitid(P_PID, id_t(process), &ended, WEXITED | WNOWAIT) != 0 && errno == EINTR) continue;
}

// Appends what is there, at most `bytes`, and waits if there is nothing. False at the end of the file.
bool read_some(int file, size_t bytes, std::string& text) {
  char part[4096];
  const ssize_t got = read(file, part, std::min(bytes, sizeof part));
  if (got > 0) text.append(part, size_t(got));
  return got > 0 || (got < 0 && errno == EINTR);
}

// What is written to `output` before the end of `over`. A process in the background may keep the one open, and fill it
// for ever, after the shell has ended: then what is there is all that is taken.
std::string read_until(const Pipe& over, const Pipe& output) {
  std::string text;
  pollfd files[] = {{output.to_read(), POLLIN, 0}, {over.to_read(), POLLIN, 0}};
  for (;;) {
    if (poll(files, 2, -1) < 0) continue;
    if (files[1].revents != 0) break;
    if (!read_some(output.to_read(), SIZE_MAX, text)) files[0].fd = -1;  // ignored from now on
  }
  int waiting = 0;
  if (files[0].fd < 0 || ioctl(output.to_read(), FIONREAD, &waiting) != 0) return text;
  for (const size_t all = text.size() + size_t(waiting); text.size() < all;)
    if (!read_some(output.to_read(), all - text.size(), text)) break;
  return text;
}

}  // namespace

std::string quoted_for_shell(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

ShellOutput run_in_shell(const std::string& command, std::atomic<int>* group) {
  Pipe output, over;
  if (!output.opened() || !over.opened()) return {};
  pid_t shell = -1;
  std::jthread waiting = new_thread([&] {
    return std::jthread([&] {
      shell = start(command, output.to_write(), group != nullptr);
      leave_signals_to_the_program();  // after the start: the shell inherits what is blocked
      if (group && shell > 0) *group = shell;
      output.end();
      if (shell > 0) wait_for_end(shell);
      over.end();
    });
  });
  ShellOutput result;
  try {
    result.text = read_until(over, output);
  } catch (const std::bad_alloc&) {
    output.stop_reading();  // or a shell that fills the pipe would never end
    throw;
  }
  waiting.join();
  if (shell < 0) return {};
  if (group) *group = 0;  // before its number may be that of another process
  waitpid(shell, &result.status, 0);
  return result;
}

}  // namespace dragoman
