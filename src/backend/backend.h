#pragma once
#include <string>

#include "backend/attention.h"
#include "backend/elementwise.h"
#include "backend/embedding.h"
#include "backend/loss.h"
#include "backend/norm.h"
#include "backend/optimizer.h"
#include "backend/products.h"
#include "backend/recurrent.h"
#include "backend/rows.h"

namespace dragoman {

struct Recorder;

/// THE hardware boundary: every computation on tensors is a slot here. Contract of all kernels: outputs come first,
/// then inputs, then numbers; the caller has checked shapes; kernels allocate no tensors (scratch is an argument with a
/// size query) and know nothing of the tape. Rows may be strided (columns of a wider matrix) unless said otherwise.
/// Integers and target weights are made by the host and have a Mirror; all other tensors lie in the backend's memory.
/// Activations: slots that say so also take them in 16 bits. Then, unless the slot says otherwise, each (N,D) tensor
/// and its gradient is f32 or of one 16-bit type, independently of the others. Arithmetic and sums are f32 whatever the
/// types; only what is stored is rounded. Parameters and statistics stay f32. The
/// `reference` backend is the readable definition of each kernel. Each family of slots has its own header.
struct Backend : ElementwiseKernels,
                 ProductKernels,
                 EmbeddingKernels,
                 NormKernels,
                 AttentionKernels,
                 RecurrentKernels,
                 LossKernels,
                 RowKernels,
                 OptimizerKernels {
  std::string name;
  std::string arithmetic = {};           // libraries and instructions that the last bits of results depend on
  std::string library = {};              // for matrix products: "oneDNN 2.6.3 on AVX2"; empty: none
  std::string instructions = {};         // of the CPU, as its own kernels use them: "AVX3_ZEN4"
  std::string device = {};               // which device of all machines it is; empty: a CPU
  const DeviceMemory* memory = nullptr;  // memory of its tensors; null: host memory
  const Recorder* recorder = nullptr;    // records kernel calls (backend/recorder.h); null: it cannot
  bool concurrent = true;                // kernels may run in several threads at once
  bool multiplies_bfloat16 = false;      // with instructions of its own, faster than f32
  bool multiplies_int8 = false;          // with instructions of its own

  /// Whether tensors lie on a separate device, such as a GPU.
  bool is_device() const { return memory != nullptr; }
  /// Whether products may multiply this type, even if slowly for lack of instructions.
  bool supports(DType factors) const { return factors != DType::f16 || is_device(); }
};

/// Calls f(slot) for every slot of the table, family by family.
template <class AnyBackend, class F>
void for_each_kernel(AnyBackend& b, const F& f) {
  ElementwiseKernels::each(b, f);
  ProductKernels::each(b, f);
  EmbeddingKernels::each(b, f);
  NormKernels::each(b, f);
  AttentionKernels::each(b, f);
  RecurrentKernels::each(b, f);
  LossKernels::each(b, f);
  RowKernels::each(b, f);
  OptimizerKernels::each(b, f);
}

}  // namespace dragoman
