#include <algorithm>
#include <limits>

#include "backend/backend.h"
#include "backend/copying.h"
#include "backend/cuda/column_sums.h"
#include "backend/cuda/convert.cuh"
#include "backend/cuda/families.h"
#include "backend/cuda/gemm.h"
#include "backend/cuda/put.cuh"

namespace dragoman::cuda {
namespace {

constexpr int64_t chunk_rows = 2048;  // rows whose logits exist at a time

// Row stride of the logits in elements: rows start at multiples of 16 bytes, in 16 bits too. For contiguous rows with
// odd V, cuBLASLt has only slow kernels, or none.
int64_t stride_of(int64_t V) { return (V + 7) / 8 * 8; }

template <class T>
struct Chunk {
  View<float> logits;  // (N,V)
  View<T> dz;          // (N,V): their gradient, in place if it is f32
  float *loss, *log_prob;
  const int32_t* targets;
  const float* weights;  // null: all 1
  float smoothing;
  bool backward, exact;            // exact: also writes the unrounded gradient in place of the logits
  View<const float> gate, copied;  // (N,1) or empty
  Put dgate, dcopied;
};

// One block per row, which it reads twice: log_prob = log p_target,  loss = -(1-ε) log p_target - ε/V Σ log p,
// dz = (1-ε) s (p - onehot) + ε (p - 1/V), where s is the softmax's share in p_target if targets may be copied, else 1.
template <class T>
__global__ void cross_entropy_kernel(Chunk<T> c) {
  const int64_t n = blockIdx.x, V = c.logits.cols;
  float* z = c.logits.row(n);
  const float lowest = -std::numeric_limits<float>::infinity();
  float own_top = lowest, sum = 0, total = 0;  // of the logits of this thread
  for (int64_t v = threadIdx.x; v < V; v += blockDim.x) {
    total += z[v];
    if (z[v] > own_top) {
      sum *= expf(own_top - z[v]);
      own_top = z[v];
    }
    sum += z[v] == lowest ? 0.f : expf(z[v] - own_top);
  }
  const float top = block_reduce(own_top, lowest, Larger{});
  sum = block_reduce(own_top == lowest ? sum : sum * expf(own_top - top), 0.f, Plus{});
  total = block_reduce(total, 0.f, Plus{});
  const float lse = top + logf(sum), weight = c.weights ? c.weights[n] : 1.f;
  const int32_t label = c.targets[n];
  const float of_target = z[label];
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
  for (int64_t v = threadIdx.x; v < V; v += blockDim.x) {
    const float p = expf(z[v] - lse), onehot = v == label ? 1.f : 0.f;
    const float dz = of_mixture * mixture.share * (p - onehot) + of_softmax * (p - 1 / float(V));
    if (c.exact) z[v] = dz;
    c.dz(n, v) = T(dz);
  }
}

// Rows [from, from + count): logits, losses, and the gradients that follow from them.
void chunk(const Backend::LinearCrossEntropy& l, int64_t from, int64_t count) {
  const int64_t V = l.w.rows();
  const auto at = [&](int64_t bytes, DType dtype) {
    void* const data = static_cast<std::byte*>(l.scratch.data()) + bytes;
    return Tensor(nullptr, data, {count, stride_of(V)}, dtype, l.scratch.memory()).columns(0, V);
  };
  const DType factor = l.x.dtype();
  const int64_t bytes = count * stride_of(V) * int64_t{sizeof(float)};
  const Tensor logits = at(0, DType::f32), dz = is_half(factor) ? at(bytes, factor) : logits;
  const Tensor x = l.x.row_range(from, count);
  gemm({.y = logits, .a = {x}, .b = {l.w, true}, .bias = l.bias});
  const auto rows = [&](const Tensor& all) { return all ? all.row_range(from, count) : Tensor(); };
  for_factor(factor, [&]<class T>() {
    launch(cross_entropy_kernel<T>, dim3(unsigned(count)), dim3(threads_per_block), 0,
           Chunk<T>{view<float>(logits), view<T>(dz), view<float>(l.loss).data + from,
                    view<float>(l.log_prob).data + from, integers(l.targets) + from,
                    l.weights ? view<const float>(l.weights).data + from : nullptr, float(l.label_smoothing),
                    l.backward(), bool(l.dbias), view<const float>(rows(l.gate)), view<const float>(rows(l.copied)),
                    Put(Grad{rows(l.dgate.tensor), l.dgate.mode}), Put(Grad{rows(l.dcopied.tensor), l.dcopied.mode})});
  });
  if (l.dx) gemm({.y = l.dx.tensor.row_range(from, count), .a = {dz}, .b = {l.w}, .adds = l.dx.adds()});
  if (l.dw) gemm({.y = l.dw.tensor, .a = {dz, true}, .b = {x}, .adds = from > 0 || l.dw.adds()});
  if (l.dbias) column_sums({l.dbias.tensor, from > 0 ? Accumulate::yes : l.dbias.mode}, logits);
}

void clear(const Grad& g) {
  if (g && !g.adds()) DRAGOMAN_CUDA_CHECK(cudaMemsetAsync(g.tensor.data(), 0, size_t(g.tensor.bytes()), stream()));
}

void linear_cross_entropy(const Backend::LinearCrossEntropy& l) {
  const int64_t N = l.x.rows();
  if (N == 0) clear(l.dw), clear(l.dbias);
  for (int64_t from = 0; from < N; from += chunk_rows) chunk(l, from, std::min(chunk_rows, N - from));
}

}  // namespace

void install_loss(Backend& b) {
  b.linear_cross_entropy_scratch = [](int64_t N, int64_t V, DType factors) {
    return std::min(N, chunk_rows) * stride_of(V) *
           (int64_t{sizeof(float)} + (is_half(factors) ? size_of(factors) : 0));
  };
  b.linear_cross_entropy = linear_cross_entropy;
}

}  // namespace dragoman::cuda
