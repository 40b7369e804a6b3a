#pragma once
#include <utility>

#include "tensor/tensor.h"

namespace dragoman {

[[noreturn]] void throw_missing_kernel(const char* name);

/// A slot of the kernel table: a function pointer with a name. Calling an empty slot throws an Error by that name.
template <class Signature>
class Kernel;
template <class R, class... A>
class Kernel<R(A...)> {
 public:
  explicit constexpr Kernel(const char* name) : name_(name) {}
  Kernel& operator=(R (*f)(A...)) {
    function_ = f;
    return *this;
  }
  template <class... B>
  R operator()(B&&... arguments) const {
    if (!function_) [[unlikely]]
      throw_missing_kernel(name_);
    return function_(std::forward<B>(arguments)...);
  }
  explicit operator bool() const { return function_ != nullptr; }
  const char* name() const { return name_; }

 private:
  const char* name_;
  R (*function_)(A...) = nullptr;
};

/// Whether a gradient kernel overwrites what it is given or adds to it. The tape decides: the first writer of a
/// gradient overwrites, later ones add.
enum class Accumulate { no, yes };

/// A gradient to be written. Empty when nobody wants it (a frozen parameter, an input without a tape).
struct Grad {
  Tensor tensor;
  Accumulate mode = Accumulate::no;
  explicit operator bool() const { return bool(tensor); }
  bool adds() const { return mode == Accumulate::yes; }
};

}  // namespace dragoman
