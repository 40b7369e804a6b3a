#include "base/machine.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

namespace dragoman {

namespace {

constexpr int64_t unlimited = std::numeric_limits<int64_t>::max();

// proc(5): size and resident, in bytes.
struct Pages {
  int64_t size = 0, resident = 0;
};
Pages pages() {
  std::ifstream status("/proc/self/statm");
  Pages of_process;
  if (!(status >> of_process.size >> of_process.resident)) return {};
  const int64_t bytes = sysconf(_SC_PAGE_SIZE);
  return {of_process.size * bytes, of_process.resident * bytes};
}

// The lowest of the limits in a control group's folder and those above it. Without a limit, the file says "max" or, in
// version 1, a number above any machine's memory.
int64_t lowest_limit(const std::filesystem::path& root, const std::string& group, const char* file) {
  int64_t lowest = unlimited;
  std::filesystem::path folder = root / std::filesystem::path(group).relative_path();
  for (;; folder = folder.parent_path()) {
    std::ifstream in(folder / file);
    if (int64_t limit = 0; in >> limit) lowest = std::min(lowest, limit);
    if (folder == root || !folder.has_relative_path()) return lowest;
  }
}

}  // namespace

int64_t machine_memory() {
  static const int64_t memory = std::min(int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGE_SIZE), container_memory());
  return memory;
}

// proc(5): a line is "MemAvailable:   12345 kB". The system counts the whole machine, whatever a container may use.
int64_t available_memory(int64_t memory, const std::filesystem::path& report) {
  std::ifstream lines(report);
  for (std::string name; lines >> name; lines.ignore(unlimited, '\n'))
    if (int64_t kib = 0; name == "MemAvailable:" && lines >> kib) return std::min(memory, kib << 10);
  return 0;
}

// cgroups(7): a line is number:controllers:group; version 2 has number 0 and no controllers.
int64_t container_memory(const std::filesystem::path& groups, const std::filesystem::path& root) {
  int64_t lowest = unlimited;
  std::ifstream lines(groups);
  for (std::string line; std::getline(lines, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1), group = line.substr(second + 1);
    if (controllers.empty()) lowest = std::min(lowest, lowest_limit(root, group, "memory.max"));
    if (controllers == "memory")
      lowest = std::min(lowest, lowest_limit(root / "memory", group, "memory.limit_in_bytes"));
  }
  return lowest;
}

int64_t addresses_left() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > rlim_t(unlimited))
    return unlimited;
  return std::max<int64_t>(0, int64_t(limit.rlim_cur) - pages().size);
}

int64_t resident_memory() { return pages().resident; }

}  // namespace dragoman
