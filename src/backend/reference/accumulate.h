#pragma once
#include "backend/kernel.h"

namespace dragoman::reference {

/// Writes or adds, as the gradient requires.
template <class T>
void put(T& to, T value, Accumulate mode) {
  to = mode == Accumulate::yes ? to + value : value;
}

/// Zeroes outputs to be overwritten, so that a kernel only has to add.
template <class T>
void begin(View<T> grad, Accumulate mode) {
  if (mode == Accumulate::yes) return;
  for (int64_t n = 0; n < grad.rows; ++n)
    for (int64_t d = 0; d < grad.cols; ++d) grad(n, d) = 0;
}

}  // namespace dragoman::reference
