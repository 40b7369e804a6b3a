#include "train/destination.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/error.h"
#include "base/file_calls.h"
#include "base/grouped.h"
#include "base/temporary_file.h"
#include "base/writable.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;

std::string process_in(int file) {
  char text[32] = {};
  const ssize_t got = pread(file, text, sizeof text - 1, 0);
  return got > 0 ? fmt::format(" (process {})", text) : "";
}

int64_t size_of(const std::string& file) {
  std::error_code missing;
  const auto size = fs::file_size(file, missing);
  return missing ? 0 : int64_t(size);
}

// Of the state and other files of a run, which a link to the model does not take along.
std::string folder_beside(const std::string& model) { return folder_of_written(state_path(model)); }

bool same_disk(const std::string& folder, const std::string& other) {
  struct stat one, two;
  return stat(folder.c_str(), &one) != 0 || stat(other.c_str(), &two) != 0 || one.st_dev == two.st_dev;
}

// The bytes that a file needs in addition, while its old version still exists.
int64_t space_to_replace(const std::string& file, int64_t bytes) { return std::max(2 * bytes - size_of(file), bytes); }

void require_space_in(const std::string& folder, const std::string& model, int64_t needed, int64_t available) {
  if (needed <= available) return;
  throw Error(fmt::format("--model {}: a checkpoint needs {} MiB more on the disk of {}, which has {} MiB free", model,
                          mebibytes(needed), folder, available >> 20),
              "free some space (df -h), or give --model on another disk");
}

void require_file_size(const std::string& model, int64_t bytes) {
  rlimit most{};
  if (getrlimit(RLIMIT_FSIZE, &most) != 0 || most.rlim_cur == RLIM_INFINITY || rlim_t(bytes) <= most.rlim_cur) return;
  throw Error(fmt::format("--model {}: its largest file, of {} KiB, exceeds the limit on file sizes, {} KiB", model,
                          (bytes + 1023) / 1024, most.rlim_cur / 1024),
              "raise it: ulimit -f shows it");
}

bool is_regular(int file) {
  struct stat status;
  return fstat(file, &status) == 0 && S_ISREG(status.st_mode);
}

// False if the process that held the lock has removed the file in the meantime.
bool is_at(const std::string& path, int file) {
  struct stat locked, current;
  return fstat(file, &locked) == 0 && stat(path.c_str(), &current) == 0 && locked.st_ino == current.st_ino &&
         locked.st_dev == current.st_dev;
}

}  // namespace

void require_writable_model(const std::string& model) {
  require_replaceable("model", model);
  const std::string beside = folder_beside(model);
  require(access(beside.c_str(), W_OK) == 0,
          "--model {}: the folder {}, which the training state is written to, cannot be written to", model, beside);
}

void require_space(const std::string& model, CheckpointSize size, int64_t available) {
  require_file_size(model, size.larger());
  require_space_in(folder_beside(model), model, space_to_save(model, size), available);
  if (const std::string folder = folder_of_written(model); !same_disk(folder, folder_beside(model)))
    require_space_in(folder, model, space_to_replace(model, size.model), free_space_in(folder));
}

int64_t space_to_save(const std::string& model, CheckpointSize size) {
  if (!same_disk(folder_of_written(model), folder_beside(model)))
    return space_to_replace(state_path(model), size.state);
  return std::max(size.while_replacing() - size_of(model) - size_of(state_path(model)), size.larger());
}

void require_space_beside(const std::string& model, CheckpointSize size, const std::vector<std::string>& replaced) {
  const int64_t available = free_space(model), to_save = space_to_save(model, size);
  int64_t freed = 0;
  for (const std::string& file : replaced) freed += size_of(file);
  if (size.model <= available && size.model + to_save <= available + freed) return;
  fail("it needs {} MiB, and the next save {} MiB, but the disk of {} has {} MiB free", mebibytes(size.model),
       mebibytes(to_save), folder_beside(model), available >> 20);
}

int64_t free_space(const std::string& model) { return free_space_in(folder_beside(model)); }

ModelLock::ModelLock(const std::string& model) : path_(lock_path(model)) {
  require_writable_model(model);
  for (;;) {
    file_ = open(path_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    const int problem = file_ < 0 ? errno : is_regular(file_) ? 0 : ELOOP;
    if (problem != 0) {
      if (file_ >= 0) close(std::exchange(file_, -1));
      throw Error(fmt::format("--model {}: the lock {} cannot be opened: {}", model, path_,
                              problem == ELOOP ? "it is not a regular file" : std::strerror(problem)),
                  fmt::format("ls -ld {} shows what is there: remove it, or give another --model", path_));
    }
    if (flock(file_, LOCK_EX | LOCK_NB) != 0) {
      const bool taken = errno == EWOULDBLOCK;
      const std::string process = process_in(file_);
      close(std::exchange(file_, -1));
      if (!taken) return;
      throw Error(fmt::format("--model {}: it is being trained already{}", model, process),
                  "wait until that run ends, stop it, or give another --model");
    }
    if (is_at(path_, file_)) break;
    close(std::exchange(file_, -1));
  }
  if (ftruncate(file_, 0) == 0) dprintf(file_, "%d", getpid());
}

ModelLock::~ModelLock() {
  if (file_ < 0) return;
  unlink(path_.c_str());
  close(file_);
}

}  // namespace dragoman
