// Table 1 of Vaswani et al. 2017, measured: what a layer that mixes a sequence costs as sentences grow. 8,192 tokens of
// 128 columns, forward and back, in sentences of one length: projections included, feed-forward layers not. "MB" is the
// memory of values, gradients and what was saved for the way back.
//
//   bench_layers --benchmark_format=json > layers.json; tests/bench/layers_plot.py layers.json > docs/lengths.svg
#include <benchmark/benchmark.h>

#include "backend/registry.h"
#include "base/philox.h"
#include "base/threads.h"
#include "nn/autoregression/ssru.h"
#include "nn/encoders/convolution.h"
#include "nn/recurrent.h"

namespace dragoman {
namespace {

using State = benchmark::State;

constexpr int64_t tokens = 8192, dim = 128;
constexpr int heads = 4;

SelfAttention attention(Parameters& p, AttentionScore score, int window) {
  return SelfAttention::make(p, "layer", dim,
                             {.sizes = {heads, dim / heads, dim / heads}, .score = score, .window = window});
}

SelfRows rows_of(int64_t length) {
  std::vector<int32_t> positions;
  for (int64_t n = 0; n < tokens; ++n) {
    positions.push_back(int32_t(n / length));
    positions.push_back(int32_t(n % length));
  }
  return {Spans::of_lengths(std::vector<int32_t>(size_t(tokens / length), int32_t(length))),
          int_tensor(std::move(positions), {tokens, 2}),
          {},
          {}};
}

// `make` makes the layer, which is called as layer(cx, x, rows).
template <class Make>
void run(State& state, const Make& make) {
  const Backend& cpu = backend("cpu");
  Arena arena;
  Parameters parameters(cpu, arena, DType::f32, Parameters::Flat{1 << 20});
  const auto layer = make(parameters);
  parameters.initialise(1);
  const SelfRows rows = rows_of(state.range(0));
  const Var x(arena.allocate({tokens, dim}, DType::f32), std::make_shared<Node>());
  PhiloxSequence random{1, 1};
  for (int64_t i = 0; i < tokens * dim; ++i) x.value().as<float>()[i] = float(random.uniform() - 0.5);
  const int64_t before = arena.in_use();
  arena.reset_peak();
  for (auto _ : state) {
    Tape tape;
    Context cx{.backend = cpu, .arena = arena, .tape = &tape};
    const Var y = layer(cx, x, rows);
    y.node()->gradient = x.value();
    y.node()->written = true;
    tape.backward(cpu, arena);
    parameters.forget_gradients();
    *x.node() = {};
  }
  state.counters["MB"] = double(arena.peak() - before) / 1e6;
}

void BM_self_attention(State& state, AttentionScore score, int window) {
  run(state, [&](Parameters& p) {
    return [layer = attention(p, score, window)](Context& cx, const Var& x, const SelfRows& rows) {
      return layer(cx, x, rows, false);
    };
  });
}

void BM_recurrent_unit(State& state) {
  run(state, [](Parameters& p) { return Ssru::make(p, "layer", dim, 1, false); });
}

void BM_recurrence(State& state, Cell cell) {
  run(state, [&](Parameters& p) {
    return [layer = Recurrence::make(p, "layer", {cell, dim, dim, false})](Context& cx, const Var& x,
                                                                           const SelfRows& rows) {
      return layer(cx, x, Steps(rows.spans, Direction::forward));
    };
  });
}

void BM_convolution(State& state) {
  run(state, [](Parameters& p) {
    return [layer = GatedConvolution::make(p, "layer", dim, 3)](Context& cx, const Var& x, const SelfRows& rows) {
      return layer(cx, x, rows.spans, {});
    };
  });
}

void lengths(benchmark::internal::Benchmark* b) {
  for (int64_t length = 16; length <= 8192; length *= 4) b->Arg(length);
  b->Arg(8192)->Unit(benchmark::kMillisecond);
}
BENCHMARK_CAPTURE(BM_self_attention, all, AttentionScore::scaled_dot, -1)->Apply(lengths);
BENCHMARK_CAPTURE(BM_self_attention, additive, AttentionScore::additive, -1)->Apply(lengths);
BENCHMARK_CAPTURE(BM_self_attention, window_16, AttentionScore::scaled_dot, 16)->Apply(lengths);
BENCHMARK(BM_recurrent_unit)->Apply(lengths);
BENCHMARK_CAPTURE(BM_recurrence, gru, Cell::gru)->Apply(lengths);
BENCHMARK_CAPTURE(BM_recurrence, lstm, Cell::lstm)->Apply(lengths);
BENCHMARK(BM_convolution)->Apply(lengths);

}  // namespace
}  // namespace dragoman
