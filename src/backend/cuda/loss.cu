#include <algorithm>

#include "backend/backend.h"
#include "backend/copying.h"
#include "backend/cuda/async_copy.cuh"
#include "backend/cuda/exponential.cuh"
#include "backend/cuda/factor.cuh"
#include "backend/cuda/families.h"
#include "backend/cuda/four.cuh"
#include "backend/cuda/gemm.h"
#include "backend/cuda/linear.h"
#include "backend/cuda/neighbours.cuh"
#include "backend/cuda/put.cuh"

namespace dragoman::cuda {
namespace {

// Rows whose logits exist at a time. In f32, 2,048 rows of 32,000 logits take 262 MB. In training with 16-bit factors
// the logits have 16 bits too, and 8,192 rows take 524 MB (2,048 took 393 MB, including their rounded gradient).
// Each chunk reads w twice and reads and writes all of dw, 200 MB of traffic at D = 512, whatever its number of rows.
// Moreover, dx of 8,192 rows has 128 tiles of 128 by 256, one wave on a GPU with 132 multiprocessors, while dx of 2,048
// rows has a quarter of that.
int64_t chunk_rows(DType logits) { return is_half(logits) ? 8192 : 2048; }

// Rounding a logit of up to 16 to bfloat16 changes it by at most 2⁻⁵: little for a gradient, which is rounded as well,
// but too much for a score.
DType logits_of(const Backend::LinearCrossEntropy& l) {
  return l.backward() && is_half(l.x.dtype()) ? l.x.dtype() : DType::f32;
}

// Row stride of the logits in elements: rows start at multiples of 16 bytes, in 16 bits too. For contiguous rows with
// odd V, cuBLASLt has only slow kernels, or none.
int64_t stride_of(int64_t V) { return (V + 7) / 8 * 8; }

/// Adjacent logits that a thread takes in one access of 16 bytes.
template <class T>
constexpr int taken = int(16 / sizeof(T));
template <class T>
__device__ Adjacent<T, taken<T>>& take(T* row, int64_t v) {
  return *reinterpret_cast<Adjacent<T, taken<T>>*>(row + v);
}

template <class T>
struct Chunk {
  View<T> logits;     // (N,V), without bias if that is given; their gradient replaces them
  const float* bias;  // (V), of 16-bit logits; the sum of both is not rounded
  bool wide;          // whether the bias can be read in fours
  bool kept;          // whether shared memory holds a row
  float *loss, *log_prob;
  const int32_t* targets;
  const float* weights;  // null: all 1
  float smoothing;
  bool backward;
  View<const float> gate, copied;  // (N,1) or empty
  Put dgate, dcopied;
};

/// Of the logits that a thread has seen: the highest, the sum of exp(logit - highest), and their sum.
template <class T>
struct SeenLogits {
  float highest = -INFINITY, sum = 0, total = 0;

  /// Takes the first `count`. The sum is rescaled at most once.
  __device__ void take(const float (&z)[taken<T>], int count) {
    float next = highest;
#pragma unroll
    for (int j = 0; j < taken<T>; ++j)
      if (j < count) next = fmaxf(next, z[j]);
    if (next > highest) {
      sum *= power<T>(exponent_unit<T> * (highest - next));
      highest = next;
    }
    const PowersBelow<T> weight(highest);
#pragma unroll
    for (int j = 0; j < taken<T>; ++j)
      if (j < count) {
        total += z[j];
        sum += weight(z[j]);
      }
  }
};

// One block per row, which it reads from memory once if it is kept, else twice: log_prob = log p_target,
// loss = -(1-ε) log p_target - ε/V Σ log p,  dz = (1-ε) s (p - onehot) + ε (p - 1/V), where s is the softmax's share in
// p_target if targets may be copied, else 1.
template <class T, bool biased>
__global__ void cross_entropy_kernel(Chunk<T> c) {
  const int64_t n = blockIdx.x, V = c.logits.cols, first = threadIdx.x * taken<T>, step = blockDim.x * taken<T>;
  T *const out = c.logits.row(n), *const row = c.kept ? dynamic_shared<T>() : out;
  // A thread starts all its copies before it waits for them. It reads only logits that it has copied itself, so no
  // barrier is needed.
  if (c.kept) {
    for (int64_t v = first; v < V; v += step) copy_16_bytes(row + v, out + v, true);
    wait_for_copies();
  }
  // Calls f with the logits from v on, and how many there are: a constant except at the end of a row.
  const auto each = [&](const auto& f) {
    for (int64_t v = first; v < V; v += step) {
      const Adjacent<T, taken<T>> some = take(row, v);
      float z[taken<T>];
      const auto widen = [&](int count) {
#pragma unroll
        for (int j = 0; j < taken<T>; ++j) {
          const Neighbours<T> two = some.pairs[j / 2];
          z[j] = j >= count ? 0.f : j % 2 == 0 ? two.first() : two.second();
        }
#pragma unroll
        for (int j = 0; biased && j < count; j += 4) {
          const Four bias = load_four(c.bias, v + j, V, c.wide);
          for (int i = 0; i < 4; ++i) z[j + i] += bias.at[i];
        }
        f(v, z, count);
      };
      v + taken<T> <= V ? widen(taken<T>) : widen(int(V - v));
    }
  };
  SeenLogits<T> seen;
  each([&](int64_t, const auto& z, int count) { seen.take(z, count); });
  const float top = block_reduce(seen.highest, -INFINITY, Larger{});
  const bool any = seen.highest != -INFINITY;  // else the sum is 0 or NaN
  const float sum = block_reduce(any ? seen.sum * expf(seen.highest - top) : seen.sum, 0.f, Plus{});
  const float total = block_reduce(seen.total, 0.f, Plus{});
  const float lse = top + logf(sum), weight = c.weights ? c.weights[n] : 1.f;
  const int32_t target = c.targets[n];
  const float of_target = float(row[target]) + (biased ? c.bias[target] : 0.f);
  __syncthreads();  // all threads must read the target's logit before it is overwritten
  const TargetMixture<float> mixture = c.gate ? target_mixture(of_target - lse, c.gate(n, 0), c.copied(n, 0))
                                              : TargetMixture<float>{.log_prob = of_target - lse};
  const float of_mixture = weight * (1 - c.smoothing), of_softmax = weight * c.smoothing;
  if (threadIdx.x == 0) {
    c.log_prob[n] = mixture.log_prob;
    c.loss[n] = -of_mixture * mixture.log_prob - of_softmax * (total / float(V) - lse);
    c.dgate(n, 0, of_mixture * mixture.dgate);
    c.dcopied(n, 0, of_mixture * mixture.dcopied);
  }
  if (!c.backward) return;
  const float at_target = of_mixture * mixture.share, of_p = at_target + of_softmax, of_all = of_softmax / float(V);
  const auto probability = [from = exponent_unit<T> * lse](float z) { return power<T>(exponent_unit<T> * z - from); };
  each([&](int64_t v, const auto& z, int) {
    const auto dz = [&](int j) { return of_p * probability(z[j]) - of_all; };
    Adjacent<T, taken<T>> some;
#pragma unroll
    for (int j = 0; j < taken<T>; j += 2) some.pairs[j / 2] = {dz(j), dz(j + 1)};
    take(out, v) = some;
  });
  if (target / taken<T> % blockDim.x == threadIdx.x)  // the thread that has just written the target's
    out[target] = T(of_p * probability(of_target) - of_all - at_target);
}

// Rows [from, from + count): logits, losses, and the gradients that follow from them.
void chunk(const Backend::LinearCrossEntropy& l, int64_t from, int64_t count) {
  const int64_t V = l.w.rows();
  const Tensor w = l.packed ? l.packed.reshaped(l.w.shape()) : l.w;  // packed in its own type, it is w itself
  const DType type = logits_of(l);
  const Tensor logits =
      Tensor(nullptr, l.scratch.data(), {count, stride_of(V)}, type, l.scratch.memory()).columns(0, V);
  const Tensor x = l.x.row_range(from, count);
  gemm({.y = logits, .a = {x}, .b = {w, true}, .bias = is_half(type) ? Tensor() : l.bias});
  const auto rows = [&](const Tensor& all) { return all ? all.row_range(from, count) : Tensor(); };
  for_factor(type, [&]<class T>() {
    const int64_t row_bytes = is_half(type) ? stride_of(V) * size_of(type) : 0;
    const bool kept = row_bytes > 0 && row_bytes <= most_shared_bytes();
    constexpr unsigned most_warps = threads_per_block / warp_size;
    const unsigned warps = std::min(blocks_of(V, taken<T> * warp_size), most_warps);
    const float* const bias = is_half(type) ? view<const float>(l.bias).data : nullptr;
    launch(bias ? cross_entropy_kernel<T, is_half(dtype_of<T>())> : cross_entropy_kernel<T, false>,
           dim3(unsigned(count)), dim3(warps * warp_size), kept ? row_bytes : 0,
           Chunk<T>{view<T>(logits), bias, in_fours({bias, DType::f32}), kept, view<float>(l.loss).data + from,
                    view<float>(l.log_prob).data + from, integers(l.targets) + from,
                    l.weights ? view<const float>(l.weights).data + from : nullptr, float(l.label_smoothing),
                    l.backward(), view<const float>(rows(l.gate)), view<const float>(rows(l.copied)),
                    Put(Grad{rows(l.dgate.tensor), l.dgate.mode}), Put(Grad{rows(l.dcopied.tensor), l.dcopied.mode})});
  });
  if (l.dx) gemm({.y = l.dx.tensor.row_range(from, count), .a = {logits}, .b = {w}, .adds = l.dx.adds()});
  const auto so_far = [&](const Grad& g) { return Grad{g.tensor, from > 0 ? Accumulate::yes : g.mode}; };
  linear_backward_weight(so_far(l.dw), so_far(l.dbias), logits, x);
}

void linear_cross_entropy(const Backend::LinearCrossEntropy& l) {
  const int64_t N = l.x.rows();
  if (N == 0)
    for (const Grad& g : {l.dw, l.dbias})
      if (g && !g.adds()) clear(g.tensor);
  const int64_t most = chunk_rows(logits_of(l));
  for (int64_t from = 0; from < N; from += most) chunk(l, from, std::min(most, N - from));
}

}  // namespace

void install_loss(Backend& b) {
  b.linear_cross_entropy_scratch = [](int64_t N, int64_t V, DType factors) {
    const auto bytes = [&](DType logits) { return std::min(N, chunk_rows(logits)) * stride_of(V) * size_of(logits); };
    return is_half(factors) ? std::max(bytes(DType::f32), bytes(factors)) : bytes(DType::f32);
  };
  b.linear_cross_entropy = linear_cross_entropy;
}

}  // namespace dragoman::cuda
