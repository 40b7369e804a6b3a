// Kernels of the cpu backend at the sizes of the tiny (D 128) and the base (D 512) model. Those that compute report
// GFLOP/s, the others GB/s of what they must move, and each its share of the ceiling: what the machine reaches in this
// very program, multiplying large matrices (BM_product) or adding large arrays (BM_memory). What fits the caches can
// move more than memory.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>

#include "backend/backend.h"
#include "backend/registry.h"
#include "base/philox.h"
#include "tensor/arena.h"

namespace dragoman {
namespace {

using State = benchmark::State;

const Backend& cpu() { return backend("cpu"); }

struct Tensors {
  Arena arena;
  PhiloxSequence random{1, 1};

  Tensor matrix(int64_t rows, int64_t cols) {
    const Tensor x = arena.allocate({rows, cols}, DType::f32);
    for (int64_t i = 0; i < x.elements(); ++i) x.as<float>()[i] = float(random.uniform() - 0.5);
    return x;
  }
  Tensor vector(int64_t n) { return matrix(1, n).reshaped({n}); }
  Tensor positions(int64_t rows) {
    const Tensor x = arena.allocate({rows, 2}, DType::i32);
    for (int64_t n = 0; n < rows; ++n)
      x.view<int32_t>()(n, 0) = int32_t(n / 20), x.view<int32_t>()(n, 1) = int32_t(n % 20);
    return x;
  }
};

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

// Of a unit of 1e9 a second: the best of many calls within half a second, so that one that was disturbed does not
// count.
template <class F>
double best_rate(double units, F call) {
  double best = 0;
  call();
  for (const auto begin = Clock::now(); seconds_since(begin) < 0.5;) {
    const auto once = Clock::now();
    call();
    best = std::max(best, units / seconds_since(once) / 1e9);
  }
  return best;
}

constexpr int64_t side = 1024;                                       // of the square matrices
constexpr int64_t large = 16384;                                     // rows of `side`: 64 MiB, more than caches hold
constexpr double product_flop = 2.0 * side * side * side;            // y = x · wᵀ
constexpr double memory_bytes = 3.0 * large * side * sizeof(float);  // y += x reads two and writes one

double measured_product_ceiling() {
  Tensors t;
  const Tensor x = t.matrix(side, side), w = t.matrix(side, side), y = t.matrix(side, side);
  return std::max(best_rate(product_flop, [&] { cpu().linear_backward_input(Grad{y}, x, w); }),
                  best_rate(product_flop, [&] { cpu().linear(y, x, w, Tensor(), Activation::none); }));
}

double measured_memory_ceiling() {
  Tensors t;
  const Tensor x = t.matrix(large, side), y = t.matrix(large, side);
  return best_rate(memory_bytes, [&] { cpu().add(y, x, 1.0); });
}

double product_ceiling() {
  static const double ceiling = measured_product_ceiling();
  return ceiling;
}

double memory_ceiling() {
  static const double ceiling = measured_memory_ceiling();
  return ceiling;
}

// Times `call`, which does `each` FLOP or bytes.
template <class F>
void run(State& state, const char* unit, double each, double ceiling, F call) {
  const auto begin = Clock::now();
  for (auto _ : state) call();
  const double rate = each * double(state.iterations()) / seconds_since(begin) / 1e9;
  state.counters[unit] = rate;
  state.counters["of ceiling"] = rate / ceiling;
}

template <class F>
void run_flop(State& state, double flop, F call) {
  run(state, "GFLOP/s", flop, product_ceiling(), call);
}

template <class F>
void run_bytes(State& state, double bytes, F call) {
  run(state, "GB/s", bytes, memory_ceiling(), call);
}

// The ceilings themselves, for the record.
void BM_product(State& state) {
  Tensors t;
  const Tensor x = t.matrix(side, side), w = t.matrix(side, side), y = t.matrix(side, side);
  run_flop(state, product_flop, [&] { cpu().linear_backward_input(Grad{y}, x, w); });
}
BENCHMARK(BM_product)->UseRealTime();

void BM_memory(State& state) {
  Tensors t;
  const Tensor x = t.matrix(large, side), y = t.matrix(large, side);
  run_bytes(state, memory_bytes, [&] { cpu().add(y, x, 1.0); });
}
BENCHMARK(BM_memory)->UseRealTime();

// N rows, K inputs, D outputs
void BM_linear(State& state) {
  const int64_t N = state.range(0), K = state.range(1), D = state.range(2);
  Tensors t;
  const Tensor x = t.matrix(N, K), w = t.matrix(D, K), b = t.vector(D), y = t.matrix(N, D);
  run_flop(state, 2.0 * double(N * K * D), [&] { cpu().linear(y, x, w, b, Activation::relu); });
}
BENCHMARK(BM_linear)
    ->Args({8192, 128, 384})
    ->Args({8192, 256, 128})
    ->Args({4096, 512, 2048})
    ->Args({4096, 2048, 512})
    ->UseRealTime();

void BM_linear_backward(State& state) {
  const int64_t N = state.range(0), K = state.range(1), D = state.range(2);
  Tensors t;
  const Tensor x = t.matrix(N, K), w = t.matrix(D, K), b = t.vector(D), dy = t.matrix(N, D), dx = t.matrix(N, K),
               dw = t.matrix(D, K);
  run_flop(state, 4.0 * double(N * K * D), [&] {
    cpu().linear_backward_weight(Grad{dw}, Grad{b}, dy, x);
    cpu().linear_backward_input(Grad{dx}, dy, w);
  });
}
BENCHMARK(BM_linear_backward)
    ->Args({8192, 128, 384})
    ->Args({8192, 256, 128})
    ->Args({4096, 512, 2048})
    ->Args({4096, 2048, 512})
    ->UseRealTime();

void BM_linear_packed(State& state, DType type) {
  const int64_t N = state.range(0), K = state.range(1), D = state.range(2);
  Tensors t;
  const Tensor x = t.matrix(N, K), w = t.matrix(D, K), y = t.matrix(N, D),
               packed = t.arena.allocate({cpu().packed_elements(D, K, type)}, type),
               scratch = t.arena.allocate({1 + cpu().linear_packed_scratch(N, K, type)}, DType::u8);
  cpu().pack(packed, w);
  run_flop(state, 2.0 * double(N * K * D),
           [&] { cpu().linear_packed(y, x, packed, Tensor(), Activation::none, scratch); });
}
void packed_sizes(benchmark::internal::Benchmark* b) {
  b->Args({1, 512, 2048})->Args({8, 512, 2048})->Args({64, 512, 2048})->Args({64, 128, 10000})->Args({512, 512, 512});
  b->UseRealTime();
}
BENCHMARK_CAPTURE(BM_linear_packed, f32, DType::f32)->Apply(packed_sizes);
BENCHMARK_CAPTURE(BM_linear_packed, i8, DType::i8)->Apply(packed_sizes);

// N labels, D columns, V pieces
void BM_linear_cross_entropy(State& state) {
  const int64_t N = state.range(0), D = state.range(1), V = state.range(2);
  Tensors t;
  Backend::LinearCrossEntropy l{.loss = t.vector(N), .log_prob = t.vector(N)};
  l.x = t.matrix(N, D);
  l.w = t.matrix(V, D);
  l.dx = {t.matrix(N, D)};
  l.dw = {t.matrix(V, D)};
  l.targets = t.arena.allocate({N}, DType::i32);
  for (int64_t n = 0; n < N; ++n) l.targets.as<int32_t>()[n] = int32_t(n * 7919 % V);
  l.label_smoothing = 0.1;
  l.scratch = t.arena.allocate({cpu().linear_cross_entropy_scratch(N, V, DType::f32)}, DType::u8);
  run_flop(state, 6.0 * double(N * D * V), [&] { cpu().linear_cross_entropy(l); });
}
BENCHMARK(BM_linear_cross_entropy)->Args({4096, 128, 10000})->Args({2048, 512, 32000})->UseRealTime();

// heads, columns of a head: sentences of 20 tokens, forward and back. A query and a key that it sees cost two products
// of K columns forward and five back (the probability again, dv, dp, dq, dk).
void BM_attention(State& state) {
  const int64_t heads = state.range(0), K = state.range(1), N = 4000;
  const double pairs = 200.0 * 20 * 21 / 2, flop = pairs * double(heads) * 2.0 * 7 * double(K);
  Tensors t;
  const Spans spans = Spans::of_lengths(std::vector<int32_t>(200, 20));
  const AttentionShape shape{spans, spans, int(heads), Visibility::past()};
  const Tensor qkv = t.matrix(N, 3 * heads * K), dqkv = t.matrix(N, 3 * heads * K), y = t.matrix(N, heads * K),
               lse = t.matrix(N, heads);
  const auto part = [&](const Tensor& x, int i) { return x.columns(i * heads * K, heads * K); };
  const Tensor scratch = t.arena.allocate({cpu().attention_scratch(shape, K, K)}, DType::u8);
  run_flop(state, flop, [&] {
    const Backend::Attention a{y, lse, part(qkv, 0), part(qkv, 1), part(qkv, 2), {}, {}, shape, scratch, {}};
    cpu().attention(a);
    cpu().attention_backward(
        Backend::AttentionBackward{{part(dqkv, 0)}, {part(dqkv, 1)}, {part(dqkv, 2)}, {}, {}, y, a});
  });
}
// length of a sentence, window: 4096 tokens of one head of 64 columns, forward and back. A window makes the cost
// O(n·r).
void BM_attention_window(State& state) {
  const int64_t N = 4096, K = 64;
  const auto length = int32_t(state.range(0));
  Tensors t;
  const Spans spans = Spans::of_lengths(std::vector<int32_t>(size_t(N / length), length));
  const AttentionShape shape{spans, spans, 1, {.window = int(state.range(1))}};
  const Tensor q = t.matrix(N, K), k = t.matrix(N, K), v = t.matrix(N, K), dq = t.matrix(N, K), dk = t.matrix(N, K),
               dv = t.matrix(N, K), y = t.matrix(N, K), lse = t.matrix(N, 1);
  const Tensor scratch = t.arena.allocate({cpu().attention_scratch(shape, K, K)}, DType::u8);
  const Backend::Attention a{y, lse, q, k, v, {}, {}, shape, scratch, {}};
  for (auto _ : state) {
    cpu().attention(a);
    cpu().attention_backward(Backend::AttentionBackward{{dq}, {dk}, {dv}, {}, {}, y, a});
  }
}
BENCHMARK(BM_attention_window)->ArgsProduct({{64, 512, 4096}, {-1, 16}})->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(BM_attention)->Args({4, 32})->Args({8, 64})->UseRealTime();

void BM_residual_norm(State& state) {
  const int64_t N = 8192, D = state.range(0);
  Tensors t;
  const Tensor mean = t.vector(N), rstd = t.vector(N);
  const Dropout drop{.rate = 0.3, .seed = 1, .update = 1, .op = 1, .positions = t.positions(N)};
  const Backend::ResidualNorm a{t.matrix(N, D), t.matrix(N, D), mean,        rstd, t.matrix(N, D),
                                t.matrix(N, D), t.vector(D),    t.vector(D), drop, 1e-5};
  run_bytes(state, 4.0 * double(a.x.bytes()), [&] { cpu().residual_norm(a); });
}
BENCHMARK(BM_residual_norm)->Arg(128)->Arg(512)->UseRealTime();

// rows, how many are wanted; of a beam search, or of a greedy one that needs no log Σ exp
void BM_top_k(State& state, bool summing) {
  const int64_t R = state.range(0), k = state.range(1), V = 10000;
  Tensors t;
  const Tensor logits = t.matrix(R, V), values = t.matrix(R, k), ids = t.arena.allocate({R, k}, DType::i32),
               lse = summing ? t.vector(R) : Tensor();
  run_bytes(state, double(logits.bytes()), [&] { cpu().top_k(values, ids, lse, logits); });
}
BENCHMARK_CAPTURE(BM_top_k, summing, true)->Args({16, 5})->Args({256, 5})->UseRealTime();
BENCHMARK_CAPTURE(BM_top_k, plain, false)->Args({16, 1})->Args({64, 1})->UseRealTime();

void BM_adam(State& state) {
  Tensors t;
  const Tensor p = t.matrix(4096, 4096), g = t.matrix(4096, 4096), m = t.matrix(4096, 4096), v = t.matrix(4096, 4096);
  cpu().fill(v, 1.0);
  double one = 1;
  const Tensor total = Tensor::borrow(&one, {1});
  const AdamTensor tensors[] = {{p, g, m, v}};
  run_bytes(state, 7.0 * double(p.bytes()), [&] {
    cpu().adam(std::span<const AdamTensor>(tensors), AdamStep{1e-4, 0.9, 0.98, 1e-9, 0, 0.5, 0.5},
               AdamTotals{total, total});
  });
}
BENCHMARK(BM_adam)->UseRealTime();

}  // namespace
}  // namespace dragoman
