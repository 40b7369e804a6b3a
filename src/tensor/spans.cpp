#include "tensor/spans.h"

#include <algorithm>

namespace dragoman {

Spans::Spans(std::vector<int32_t> offsets) {
  invariant(!offsets.empty() && offsets.front() == 0, "spans begin at row 0");
  for (size_t i = 1; i < offsets.size(); ++i) {
    invariant(offsets[i] >= offsets[i - 1], "the offsets of spans do not decrease");
    longest_ = std::max(longest_, offsets[i] - offsets[i - 1]);
  }
  made_ = std::make_shared<Made>(Made{std::move(offsets), {}});
  made_->mirror = {made_->offsets.data(), int64_t(made_->offsets.size() * sizeof(int32_t))};
}

Tensor Spans::offsets() const {
  return Tensor(made_, made_->offsets.data(), {int64_t(made_->offsets.size())}, DType::i32).mirrored_by(&made_->mirror);
}

Spans Spans::of_lengths(const std::vector<int32_t>& lengths) {
  std::vector<int32_t> offsets{0};
  for (int32_t n : lengths) offsets.push_back(offsets.back() + n);
  return Spans(std::move(offsets));
}

}  // namespace dragoman
