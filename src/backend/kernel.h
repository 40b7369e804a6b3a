#pragma once
#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "tensor/tensor.h"

namespace dragoman {

[[noreturn]] void throw_missing_kernel(const char* name);

/// The accumulated cost of a kernel's calls.
struct KernelCost {
  int64_t calls = 0;
  double seconds = 0;
  double flop = 0;                                      // floating-point operations, if the slot can count them
  const DeviceMemory* device = nullptr;                 // whose clock times the calls; null: the host's
  std::vector<std::pair<Moment, Moment>> running = {};  // calls that the device may still be running

  /// Adds the time of calls still running, after waiting for them.
  void finish() {
    for (const auto& [begin, end] : running) seconds += device->seconds_between(begin, end);
    running.clear();
  }
};

/// Adds its lifetime to a cost, as one call.
class Stopwatch {
 public:
  explicit Stopwatch(KernelCost& cost) : cost_(cost) {
    if (cost_.device) moment_ = cost_.device->now();
  }
  ~Stopwatch() {
    constexpr size_t most_running = 1000;
    ++cost_.calls;
    if (!cost_.device) {
      cost_.seconds += seconds();
      return;
    }
    cost_.running.emplace_back(moment_, cost_.device->now());
    if (cost_.running.size() == most_running) cost_.finish();
  }
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(); }

 private:
  KernelCost& cost_;
  Moment moment_ = {};
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// A slot of the kernel table: a named function pointer. Calling an empty slot throws an Error with its name.
template <class Signature>
class Kernel;
template <class R, class... A>
class Kernel<R(A...)> {
 public:
  using Work = double (*)(A...);  // floating-point operations of a call
  explicit constexpr Kernel(const char* name, Work work = nullptr) : name_(name), work_(work) {}
  Kernel& operator=(R (*f)(A...)) {
    function_ = f;
    return *this;
  }
  template <class... B>
  R operator()(B&&... arguments) const {
    if (!function_) [[unlikely]]
      throw_missing_kernel(name_);
    if (!cost_) [[likely]]
      return function_(std::forward<B>(arguments)...);
    if (work_) cost_->flop += work_(arguments...);
    const Stopwatch running(*cost_);
    return function_(std::forward<B>(arguments)...);
  }
  void measure(KernelCost* cost) { cost_ = cost; }  // starts measuring; null: stops
  bool measured() const { return cost_ != nullptr; }
  explicit operator bool() const { return function_ != nullptr; }
  const char* name() const { return name_; }

 private:
  const char* name_;
  Work work_;
  R (*function_)(A...) = nullptr;
  KernelCost* cost_ = nullptr;
};

/// Whether a gradient kernel overwrites its output or adds to it. The tape decides: the first writer of a gradient
/// overwrites, later ones add.
enum class Accumulate { no, yes };

/// A gradient to be written. Empty if not needed (a frozen parameter, an input without a tape).
struct Grad {
  Tensor tensor;
  Accumulate mode = Accumulate::no;
  explicit operator bool() const { return bool(tensor); }
  bool adds() const { return mode == Accumulate::yes; }
};

}  // namespace dragoman
