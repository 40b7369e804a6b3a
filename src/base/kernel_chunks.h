#pragma once

namespace dragoman {

/// Fixes thread_count() (base/threads.h), and with it the chunks into which kernels cut their work, for the kernels
/// that the calling thread starts while this lives. What rounds differently when it is cut elsewhere (a product,
/// partial sums) then has the same bits on any number of threads; chunks are handed to those there are. 0: one a
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
