#include "backend/cuda/gemm.h"

#include <cublasLt.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <optional>

#include "backend/cuda/memory.h"
#include "tensor/arena.h"

namespace dragoman::cuda {
namespace {

void check(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_ALLOC_FAILED)
    throw OutOfMemory(fmt::format("cuBLASLt: {} failed: the device is out of memory", what));
  if (status != CUBLAS_STATUS_SUCCESS)
    throw DeviceError(fmt::format("cuBLASLt: {} failed: {}", what, cublasLtGetStatusString(status)));
}

constexpr size_t workspace_bytes = size_t{32} << 20;  // what NVIDIA recommends for Hopper

/// The library's handle, and the workspace that all products share: they run one after another on one stream.
struct Library {
  cublasLtHandle_t handle = nullptr;
  std::shared_ptr<void> workspace = piece(workspace_bytes);

  Library() { check(cublasLtCreate(&handle), "cublasLtCreate"); }
};

Library& library() {
  static Library& it = *new Library;  // never destroyed: CUDA may be gone by then
  return it;
}

bool fast_math = false;

cudaDataType_t type_of(DType dtype) {
  switch (dtype) {
    case DType::bf16:
      return CUDA_R_16BF;
    case DType::f16:
      return CUDA_R_16F;
    case DType::i8:
      return CUDA_R_8I;
    case DType::i32:
      return CUDA_R_32I;
    default:
      return CUDA_R_32F;
  }
}

// cuBLASLt is column-major: a row-major matrix is its own transpose there, so yᵀ (D,N) = bᵀ · aᵀ.
struct Layout {
  cublasLtMatrixLayout_t it = nullptr;

  Layout(const Tensor& m, int64_t rows) {
    check(cublasLtMatrixLayoutCreate(&it, type_of(m.dtype()), uint64_t(m.cols()), uint64_t(rows),
                                     std::max(m.stride(), m.cols())),
          "cublasLtMatrixLayoutCreate");
  }
  Layout(const Layout&) = delete;
  ~Layout() { cublasLtMatrixLayoutDestroy(it); }
};

struct Description {
  cublasLtMatmulDesc_t it = nullptr;

  explicit Description(DType factor) {
    const bool integers = factor == DType::i8, fast = fast_math && factor == DType::f32;
    const auto floats = fast ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
    check(cublasLtMatmulDescCreate(&it, integers ? CUBLAS_COMPUTE_32I : floats, integers ? CUDA_R_32I : CUDA_R_32F),
          "cublasLtMatmulDescCreate");
  }
  Description(const Description&) = delete;
  ~Description() { cublasLtMatmulDescDestroy(it); }
  template <class T>
  void set(cublasLtMatmulDescAttributes_t attribute, T value) {
    check(cublasLtMatmulDescSetAttribute(it, attribute, &value, sizeof value), "cublasLtMatmulDescSetAttribute");
  }
};

cublasLtEpilogue_t epilogue_of(const Gemm& g) {
  const bool relu = g.act == Activation::relu;
  if (g.bias) return relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS;
  return relu ? CUBLASLT_EPILOGUE_RELU : CUBLASLT_EPILOGUE_DEFAULT;
}

// Of the types that cuBLASLt multiplies (its documentation, cublasLtMatmul) we use these: factors both f32, both
// bfloat16 or both float16, with sums and scales in f32, and C and D both f32 or both of the factors' type. A bias is
// of D's type (cublasLt.h at CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE).
void describe(Description& d, const Gemm& g) {
  d.set(CUBLASLT_MATMUL_DESC_TRANSA, g.b.transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
  d.set(CUBLASLT_MATMUL_DESC_TRANSB, g.a.transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
  d.set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue_of(g));
  if (g.bias) {
    d.set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, type_of(g.bias.dtype()));
    d.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, static_cast<const void*>(g.bias.data()));
  }
}

// In bytes, up to the largest alignment that cuBLASLt distinguishes.
uint32_t alignment_of(const Tensor& m) {
  uint32_t bytes = 256;
  while (reinterpret_cast<uintptr_t>(m.data()) % bytes != 0) bytes /= 2;
  return bytes;
}

// The matrices of a product if a had `rows` rows. Rows are tokens, whose number changes with every batch; all other
// sizes are those of weights.
struct Layouts {
  Layout a, b, y;

  Layouts(const Gemm& g, int64_t rows)
      : a(g.a.matrix, rows),
        b(g.b.matrix, g.a.transposed ? rows : g.b.matrix.rows()),
        y(g.y, g.a.transposed ? g.y.rows() : rows) {}
};

// Rounds up to a sixteenth of the next power of two, but to at least a multiple of 8.
int64_t rounded_up(int64_t rows) {
  const int64_t unit = std::max<int64_t>(8, int64_t(std::bit_ceil(uint64_t(rows))) / 16);
  return (rows + unit - 1) / unit * unit;
}

// cuBLASLt's heuristic costs far more than a product, so its advice is cached by everything that it depends on.
using Question = std::array<int64_t, 15>;

Question question_of(const Gemm& g, int64_t rows) {
  const Tensor &y = g.y, &a = g.a.matrix, &b = g.b.matrix;
  return {rows,
          a.cols(),
          y.cols(),
          y.stride(),
          a.stride(),
          b.stride(),
          g.a.transposed,
          g.b.transposed,
          int64_t(epilogue_of(g)),
          int64_t(a.dtype()),
          int64_t(y.dtype()),
          alignment_of(a),
          alignment_of(b),
          alignment_of(y),
          g.bias ? alignment_of(g.bias) : 0};
}

struct Preference {
  cublasLtMatmulPreference_t it = nullptr;

  explicit Preference(const Gemm& g) {
    check(cublasLtMatmulPreferenceCreate(&it), "cublasLtMatmulPreferenceCreate");
    set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, uint64_t{workspace_bytes});
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment_of(g.b.matrix));
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment_of(g.a.matrix));
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment_of(g.y));
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment_of(g.y));
  }
  Preference(const Preference&) = delete;
  ~Preference() { cublasLtMatmulPreferenceDestroy(it); }
  template <class T>
  void set(cublasLtMatmulPreferenceAttributes_t attribute, T value) {
    check(cublasLtMatmulPreferenceSetAttribute(it, attribute, &value, sizeof value),
          "cublasLtMatmulPreferenceSetAttribute");
  }
};

// Whether the status means that the library has no kernel: which one it returns depends on what it checks first.
bool no_kernel(cublasStatus_t status) {
  return status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE ||
         status == CUBLAS_STATUS_ARCH_MISMATCH;
}

using Advice = std::optional<cublasLtMatmulAlgo_t>;  // empty if there is no kernel

// Advice for a product whose a has `rows` rows.
const Advice& advice(const Gemm& g, const Description& d, int64_t rows) {
  static std::map<Question, Advice> known;
  const Question question = question_of(g, rows);
  const auto found = known.find(question);
  if (found != known.end()) return found->second;
  const Layouts m(g, rows);
  const Preference preference(g);
  cublasLtMatmulHeuristicResult_t result = {};
  int count = 0;
  const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(library().handle, d.it, m.b.it, m.a.it, m.y.it, m.y.it,
                                                               preference.it, 1, &result, &count);
  if (!no_kernel(status)) check(status, "cublasLtMatmulAlgoGetHeuristic");
  const bool usable = status == CUBLAS_STATUS_SUCCESS && count > 0 && result.state == CUBLAS_STATUS_SUCCESS;
  return known.emplace(question, usable ? Advice(result.algo) : std::nullopt).first->second;
}

// Returns false if the library rejects its own advice.
bool follow(const Gemm& g, const Description& d, const cublasLtMatmulAlgo_t& algorithm) {
  const Layouts m(g, g.a.matrix.rows());
  const float floats[] = {1, g.adds ? 1.f : 0.f};
  const int32_t whole[] = {1, g.adds ? 1 : 0};
  const bool integers = g.a.matrix.dtype() == DType::i8;
  const void *one = integers ? static_cast<const void*>(&whole[0]) : &floats[0],
             *beta = integers ? static_cast<const void*>(&whole[1]) : &floats[1];
  const cublasStatus_t status = cublasLtMatmul(library().handle, d.it, one, g.b.matrix.data(), m.b.it,
                                               g.a.matrix.data(), m.a.it, beta, g.y.data(), m.y.it, g.y.data(), m.y.it,
                                               &algorithm, library().workspace.get(), workspace_bytes, stream());
  if (no_kernel(status)) return false;
  check(status, "cublasLtMatmul");
  return true;
}

}  // namespace

void multiply_in_tf32() { fast_math = true; }

// Advice for a rounded-up number of rows serves all sizes in between, unless the library rejects it.
bool try_gemm(const Gemm& g) {
  if (g.y.elements() == 0) return true;
  const DeviceLock lock = use_device();
  if (g.act != Activation::none && g.act != Activation::relu) return false;
  invariant(!g.bias || g.bias.dtype() == g.y.dtype(), "a product's bias has the type of its result");
  Description d(g.a.matrix.dtype());
  describe(d, g);
  const int64_t exact = g.a.matrix.rows();
  for (const int64_t rows : {rounded_up(exact), exact})
    if (const Advice& algorithm = advice(g, d, rows); algorithm && follow(g, d, *algorithm)) return true;
  return false;
}

}  // namespace dragoman::cuda
