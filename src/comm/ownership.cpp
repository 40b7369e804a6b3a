#include "comm/ownership.h"

#include <algorithm>
#include <cstring>

#include "comm/tensor_exchange.h"

namespace dragoman {
namespace {

Tensor part_of(const Tensor& flat, Range elements) {
  return flat.row_range(elements.begin, elements.end - elements.begin);
}

}  // namespace

Ownership::Ownership(int64_t elements)
    : own_ranks_(single_process()),
      ranks_(own_ranks_.get()),
      slices_(1),
      elements_(elements),
      block_(std::max<int64_t>(1, elements)) {}

Ownership::Ownership(Communicator& ranks, int slices, int64_t elements, int64_t block)
    : ranks_(&ranks), slices_(slices), elements_(elements), block_(block) {
  invariant(slices >= ranks.size() && elements % block == 0, "each rank needs a slice, and each slice whole blocks");
}

Range Ownership::slices_of(int rank) const {
  const int64_t S = slices_, R = ranks_->size();
  return {S * rank / R, S * (rank + 1) / R};
}

Range Ownership::slice(int s) const {
  const int64_t blocks = elements_ / block_;
  return {blocks * s / slices_ * block_, blocks * (s + 1) / slices_ * block_};
}

Range Ownership::elements_of(int rank) const {
  const Range slices = slices_of(rank);
  return {slice(int(slices.begin)).begin, slice(int(slices.end) - 1).end};
}

void Ownership::share(const Tensor& flat) const {
  if (alone()) return;
  std::vector<TensorMessage> out, in;
  for (int r = 0; r < ranks_->size(); ++r) {
    if (r == ranks_->rank()) continue;
    out.push_back({r, part_of(flat, own())});
    in.push_back({r, part_of(flat, elements_of(r))});
  }
  exchange(*ranks_, out, in);
}

Tensor Ownership::gathered(const Tensor& own_elements) const {
  if (alone()) return own_elements;
  const Tensor local = own_elements.on_host();
  if (ranks_->rank() > 0) {
    const Outgoing out{0, bytes_of(local)};
    ranks_->exchange({&out, 1}, {});
    return {};
  }
  const auto values = std::make_shared<std::vector<std::byte>>(size_t(elements_ * size_of(local.dtype())));
  const Tensor all(values, values->data(), {elements_}, local.dtype());
  std::memcpy(part_of(all, own()).data(), local.data(), size_t(local.bytes()));
  std::vector<Incoming> in;
  for (int r = 1; r < ranks_->size(); ++r) in.push_back({r, bytes_of(part_of(all, elements_of(r)))});
  ranks_->exchange({}, in);
  return all;
}

void Ownership::share(std::vector<double>& of_slices) const {
  const auto numbers = [&](int rank) {
    const Range slices = slices_of(rank);
    return std::span(of_slices).subspan(size_t(slices.begin), size_t(slices.end - slices.begin));
  };
  std::vector<Outgoing> out;
  std::vector<Incoming> in;
  for (int r = 0; r < ranks_->size(); ++r) {
    if (r == ranks_->rank()) continue;
    out.push_back({r, std::as_bytes(numbers(ranks_->rank()))});
    in.push_back({r, std::as_writable_bytes(numbers(r))});
  }
  if (!alone()) ranks_->exchange(out, in);
}

}  // namespace dragoman
