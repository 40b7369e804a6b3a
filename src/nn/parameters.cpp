#include "nn/parameters.h"

#include <fnmatch.h>

#include <algorithm>
#include <cmath>

#include "backend/backend.h"

namespace dragoman {
namespace {

// FNV-1a: the number of a name's random sequence.
uint64_t hash(const std::string& name) {
  uint64_t h = 0xcbf29ce484222325;
  for (unsigned char c : name) h = (h ^ c) * 0x100000001b3;
  return h;
}

// A tensor with an address that no memory has on 64-bit machines, and that other offsets do not have.
Tensor without_memory(int64_t offset, const Shape& shape, DType dtype) {
  const uintptr_t address = (uintptr_t{1} << 62) + uintptr_t(offset * size_of(dtype));
  return Tensor(nullptr, reinterpret_cast<void*>(address), shape, dtype);  // NOLINT(performance-no-int-to-ptr)
}

void draw(const Tensor& parameter, Init init, PhiloxSequence random) {
  const Tensor values = parameter.room_on_host();
  for_dtype(values.dtype(), [&]<class T>() {
    T* data = values.as<T>();
    for (int64_t i = 0; i < values.elements(); ++i) {
      switch (init.kind) {
        case Init::constant:
          data[i] = T(init.value);
          break;
        case Init::uniform:
          data[i] = T((2 * random.uniform() - 1) * init.value);
          break;
        case Init::normal:
          data[i] = T(random.normal() * init.value);
          break;
      }
    }
  });
  parameter.assign(values);
}

}  // namespace

Init Init::glorot(int64_t rows, int64_t cols, double gain) {
  return {uniform, gain * std::sqrt(6.0 / double(rows + cols))};
}

bool matches(const std::vector<std::string>& patterns, const std::string& name) {
  return std::ranges::any_of(patterns, [&](const std::string& p) { return fnmatch(p.c_str(), name.c_str(), 0) == 0; });
}

Parameters::Parameters(const Backend& backend, Arena& arena, DType dtype, Trainable trainable)
    : backend_(backend), arena_(arena), dtype_(dtype), trainable_(std::move(trainable)) {}

Parameters::Parameters(const Backend& backend, Arena& arena, DType dtype, Flat flat)
    : backend_(backend),
      arena_(arena),
      dtype_(dtype),
      trainable_(std::move(flat.trainable)),
      flat_values_(arena.allocate({flat.elements}, dtype)),
      flat_gradients_(arena.allocate({flat.elements}, dtype)) {
  backend.fill(flat_values_, 0.0);
  backend.fill(flat_gradients_, 0.0);
}

Parameters::Parameters(const Backend& backend, Arena& arena, DType dtype, Packed)
    : backend_(backend), arena_(arena), dtype_(dtype), packed_(true) {}

Tensor Parameters::flat_part(const Tensor& flat, int64_t offset, Shape shape) const {
  return flat.row_range(offset, shape.elements()).reshaped(shape);
}

Tensor Parameters::part_of(const Tensor& flat, size_t buffer) const {
  return flat_part(flat, offsets_[buffer], buffers_[buffer].shape());
}

Range Parameters::flat_range(size_t buffer, int64_t first_row, int64_t rows) const {
  const Shape& shape = buffers_[buffer].shape();
  const int64_t row = shape.elements() / std::max<int64_t>(1, shape[0]);
  return {offsets_[buffer] + first_row * row, offsets_[buffer] + (first_row + rows) * row};
}

Var Parameters::add(const std::vector<Slice>& slices, Shape shape, Use use, bool trained) {
  const bool updates_alone = trainable_.lora_rank > 0;
  const bool frozen = trained && std::ranges::all_of(slices, [&](const Slice& p) {
                        return p.updated.empty() && (updates_alone || matches(trainable_.frozen, p.name));
                      });
  const int64_t offset = flat_elements_;
  if (!frozen) flat_elements_ += in_blocks(shape.elements());
  offsets_.push_back(offset);
  const Tensor value = flat_values_ && !frozen          ? flat_part(flat_values_, offset, shape)
                       : packed_ && use == Use::product ? without_memory(offset, shape, dtype_)
                                                        : arena_.allocate(shape, dtype_);
  std::shared_ptr<Node> node;
  if (flat_gradients_ && trained && !frozen) {
    node = std::make_shared<Node>();
    node->gradient = flat_part(flat_gradients_, offset, shape);
  }
  int64_t from = 0;
  for (const Slice& p : slices) {
    const Tensor gradient = node ? node->gradient.row_range(from, p.rows) : Tensor();
    named_.push_back({.name = p.name,
                      .value = value.row_range(from, p.rows),
                      .gradient = gradient,
                      .init = p.init,
                      .buffer = buffers_.size(),
                      .first = from,
                      .trained = trained,
                      .frozen = frozen,
                      .updated = p.updated});
    from += p.rows;
  }
  uses_.push_back(use);
  buffers_.emplace_back(value, std::move(node));
  return buffers_.back();
}

Var Parameters::matrix(const std::vector<Slice>& slices, int64_t cols, Use use) {
  int64_t rows = 0;
  for (const Slice& p : slices) rows += p.rows;
  return add(slices, {rows, cols}, use);
}

Var Parameters::vector(const std::vector<Slice>& slices) {
  int64_t rows = 0;
  for (const Slice& p : slices) rows += p.rows;
  return add(slices, {rows}, Use::lookup);
}

Tensor Parameters::statistic(const Slice& slice) { return add({slice}, {slice.rows}, Use::lookup, false); }

LowRankUpdate Parameters::low_rank() {
  const int64_t rank = trainable_.lora_rank;
  if (rank == 0) return {};
  const size_t of = buffers_.size() - 1;
  const Var w = buffers_[of];
  std::vector<Slice> up;
  bool all_frozen = true;
  std::string layer;  // "decoder.0.feed_forward.up", or of several: "decoder.0.self_attention"
  for (const Named& p : slices_of(of)) {
    all_frozen = all_frozen && matches(trainable_.frozen, p.name);
    const std::string its = p.name.substr(0, p.name.rfind(".weight"));
    layer = up.empty() ? its : its.substr(0, its.rfind('.'));
    up.push_back({its + ".lora_up", p.value.rows(), Init::zeros(), p.name});
  }
  if (all_frozen) return {};
  const Init init{Init::uniform, 1 / std::sqrt(double(w.cols()))};
  LowRankUpdate& made = updates_[of];
  made.down = add({{layer + ".lora_down", rank, init, layer + ".weight"}}, {rank, w.cols()}, Use::product);
  made.up = add(up, {w.rows(), rank}, Use::product);
  return made;
}

Tensor Parameters::merged(size_t buffer) const {
  const Tensor& w = buffers_[buffer].value();
  const auto found = updates_.find(buffer);
  if (found == updates_.end()) return w;
  const Tensor sum = arena_.allocate(w.shape(), w.dtype());
  backend_.copy(sum, w);
  const auto& [down, up] = found->second;
  backend_.linear_backward_input(Grad{sum, Accumulate::yes}, up, down);  // sum += up · down
  return sum;
}

void Parameters::initialise(uint64_t seed) {
  for (const Named& p : named_) draw(p.value, p.init, PhiloxSequence(seed, hash(p.name)));
}

void Parameters::write_gradients_to(const Tensor& flat) {
  for (size_t i = 0; i < buffers_.size(); ++i)
    if (buffers_[i].node()) buffers_[i].node()->gradient = part_of(flat, i);
  for (Named& p : named_)
    if (p.has_gradient()) p.gradient = part_of(flat, p);
}

void Parameters::forget_gradients() {
  for (const Var& v : buffers_)
    if (v.node()) v.node()->written = false;
}

void Parameters::all_gradients_written() {
  for (const Var& v : buffers_)
    if (v.node()) v.node()->written = true;
}

void Parameters::zero_unwritten_gradients() {
  for (const Var& v : buffers_) {
    if (!v.node() || v.node()->written) continue;
    backend_.fill(v.node()->gradient, 0.0);
    v.node()->written = true;
  }
}

Tensor Parameters::load_destination(size_t buffer) const {
  const Tensor& own = buffers_[buffer].value();
  return uses_[buffer] == Use::product ? arena_.allocate(own.shape(), own.dtype()) : own;
}

Tensor Parameters::pack_destination(size_t buffer, DType type) const {
  const Tensor& w = buffers_[buffer].value();
  return arena_.allocate({backend_.packed_elements(w.rows(), w.cols(), type)}, type);
}

void Parameters::pack_loaded(size_t buffer, const Tensor& values, DType type, PackedWeights& packed) const {
  if (uses_[buffer] == Use::lookup) return;
  if (uses_[buffer] == Use::exact_product) type = dtype_;
  const Tensor copy = pack_destination(buffer, type);
  backend_.pack(copy, values);
  packed.emplace(buffers_[buffer].value().data(), copy);
}

bool Parameters::round_loaded(size_t buffer, const Tensor& values, RoundedWeights& rounded) const {
  if (!rounds(buffer, rounded.activations)) return false;
  const Tensor copy = arena_.allocate(values.shape(), rounded.type);
  backend_.copy(copy, values);
  rounded.copies.emplace(buffers_[buffer].value().data(), copy);
  return true;
}

void Parameters::pack_rounded(size_t buffer, std::span<const RoundedRows> slices, PackedWeights& packed) const {
  const Tensor copy = pack_destination(buffer, DType::i8);
  backend_.pack_rounded(copy, slices);
  packed.emplace(buffers_[buffer].value().data(), copy);
}

PackedWeights Parameters::pack(DType type) const {
  PackedWeights packed;
  if (type == dtype_ && backend_.is_device()) return packed;  // there it would be a mere copy
  for (size_t i = 0; i < buffers_.size(); ++i) pack_loaded(i, buffers_[i].value(), type, packed);
  return packed;
}

bool Parameters::rounds(size_t buffer, bool vectors) const {
  if (buffers_[buffer].shape().rank() == 1) return vectors;
  return uses_[buffer] == Use::product || uses_[buffer] == Use::both;
}

RoundedWeights Parameters::rounded_weights(DType type, bool activations) const {
  RoundedWeights rounded{.type = type, .activations = activations};
  const auto in_flat = [&](size_t buffer) { return rounds(buffer, activations) && !is_frozen(buffer); };
  for (size_t begin = 0, end; begin < buffers_.size(); begin = end) {
    end = begin + 1;
    if (!rounds(begin, activations)) continue;
    if (is_frozen(begin)) {
      const Tensor& values = buffers_[begin].value();
      rounded.frozen.push_back({values, arena_.allocate(values.shape(), type)});
      rounded.copies.emplace(values.data(), rounded.frozen.back().copy);
      continue;
    }
    while (end < buffers_.size() && in_flat(end)) ++end;
    const int64_t from = offsets_[begin], to = end < buffers_.size() ? offsets_[end] : flat_elements_;
    const Tensor copy = arena_.allocate({to - from}, type);
    for (size_t i = begin; i < end; ++i)
      rounded.copies.emplace(buffers_[i].value().data(), flat_part(copy, offsets_[i] - from, buffers_[i].shape()));
    rounded.adjacent.push_back({flat_values_.row_range(from, to - from), copy});
  }
  return rounded;
}

void Parameters::round(RoundedWeights& rounded) const {
  for (const auto& [values, copy] : std::exchange(rounded.frozen, {})) backend_.copy(copy, values);
  for (const auto& [values, copy] : rounded.adjacent) {
    const Shape blocks{copy.elements() / flat_block, flat_block};
    backend_.copy(copy.reshaped(blocks), values.reshaped(blocks));
  }
}

std::span<const Parameters::Named> Parameters::slices_of(size_t buffer) const {
  const auto [first, last] = std::ranges::equal_range(named_, buffer, {}, &Named::buffer);
  return {first, last};
}

int64_t Parameters::count() const {
  int64_t sum = 0;
  for (const Named& p : named_)
    if (p.trained && !p.is_update()) sum += p.value.elements();
  return sum;
}

int64_t Parameters::update_count() const {
  int64_t sum = 0;
  for (const Named& p : named_)
    if (p.is_update()) sum += p.value.elements();
  return sum;
}

}  // namespace dragoman
