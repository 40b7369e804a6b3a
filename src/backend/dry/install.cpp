#include "backend/dry/install.h"

#include "backend/backend.h"

namespace dragoman::dry {
namespace {

// Kernels that compute nothing: tensors of this backend have addresses but no memory. Size queries stay.
template <class... A>
void rest(Kernel<void(A...)>& slot) {
  slot = [](A...) {};
}
template <class... A>
void rest(Kernel<int64_t(A...)>&) {}

}  // namespace

void install(Backend& b) {
  b.name = "dry";
  b.memory = nullptr;
  b.recorder = nullptr;
  for_each_kernel(b, [](auto& slot) { rest(slot); });
}

}  // namespace dragoman::dry
