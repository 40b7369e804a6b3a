#pragma once
#include "dragoman/run_event.h"

namespace dragoman {

/// For std::visit: one function object of several lambdas.
template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

}  // namespace dragoman
