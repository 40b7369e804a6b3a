#pragma once

namespace dragoman {

/// Fixes thread_count() (base/threads.h), and with it the chunks into which kernels split their work, for kernels
/// started by the calling thread while this lives. Results that depend on the split (products, partial sums) then have
/// the same bits on any number of threads; the available threads share the chunks. 0: one chunk per
/// thread.
class KernelChunks {
 public:
  explicit KernelChunks(int chunks);
  ~KernelChunks();
  KernelChunks(const KernelChunks&) = delete;

 private:
  const int before_;
};

}  // namespace dragoman
