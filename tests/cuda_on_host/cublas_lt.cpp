#include <cublasLt.h>

#include <numeric>

#include "base/error.h"
#include "tensor/dtype.h"
#include "tests/cuda_on_host/memory.h"

using namespace cuda_on_host;

namespace {

using dragoman::bfloat16, dragoman::float16, dragoman::invariant;

int64_t questions = 0;

/// A factor op(M) as a device sees it: its address only, which does not keep the memory alive.
template <class T>
struct Matrix {
  const T* data;
  int64_t down, right;  // elements from one row to the next, and from one column to the next

  Matrix(const void* m, const Layout& layout, cublasOperation_t op)
      : data(static_cast<const T*>(m)),
        down(op == CUBLAS_OP_T ? layout.stride : 1),
        right(op == CUBLAS_OP_T ? 1 : layout.stride) {}
  T at(int64_t row, int64_t col) const { return data[row * down + col * right]; }
};

struct Operands {
  const void *a, *b;
  void* d;
  bool adds;
};

bool adds_bias(const Multiplication& m) { return m.epilogue & CUBLASLT_EPILOGUE_BIAS; }

int64_t summed(const Algorithm& by) { return by.product.of_a == CUBLAS_OP_T ? by.a.rows : by.a.cols; }

/// The result and the bias are of type R.
template <class T, class R>
void multiply(const Algorithm& by, const Operands& on) {
  const Matrix<T> a(on.a, by.a, by.product.of_a), b(on.b, by.b, by.product.of_b);
  auto* const d = static_cast<R*>(on.d);
  const bool relu = by.product.epilogue & CUBLASLT_EPILOGUE_RELU;
  const auto* const bias = adds_bias(by.product) ? static_cast<const R*>(by.product.bias) : nullptr;
  issue([=, rows = by.d.rows, cols = by.d.cols, stride = by.d.stride, K = summed(by), adds = on.adds] {
    const Unlocked memory;
    for (int64_t col = 0; col < cols; ++col)
      for (int64_t row = 0; row < rows; ++row) {
        R& result = d[col * stride + row];
        double sum = bias ? double(float(bias[row])) : 0;
        for (int64_t k = 0; k < K; ++k) sum += double(float(a.at(row, k))) * double(float(b.at(k, col)));
        if (adds) sum += double(float(result));
        result = R(float(!relu || sum > 0 ? sum : 0));  // turns NaN into 0, as the library may
      }
  });
}

template <class T>
void multiply(const Algorithm& by, const Operands& on) {
  by.d.type == CUDA_R_32F ? multiply<T, float>(by, on) : multiply<T, T>(by, on);
}

/// What cuBLASLt requires for integers in plain order (its documentation, cublasLtMatmul): a transposed, b not; m, k
/// and leading dimensions multiples of 4; no epilogue. Its fast kernels also need columns of factors at multiples of 16
/// bytes, and it is known to have kernels only for more than 16 columns of d.
void check_integers(const Algorithm& by, const Operands& on) {
  invariant(by.b.type == CUDA_R_8I && by.d.type == CUDA_R_32I, "bytes times bytes are sums in 32 bits");
  invariant(by.product.compute == CUBLAS_COMPUTE_32I && by.product.scale_type == CUDA_R_32I, "sums are integers");
  invariant(by.product.of_a == CUBLAS_OP_T && by.product.of_b == CUBLAS_OP_N, "integers are multiplied row by row");
  invariant(by.d.cols > 16 && by.d.rows % 4 == 0 && by.a.rows % 4 == 0, "there are kernels for such sizes");
  invariant(by.d.stride % 4 == 0, "leading dimensions go in fours");
  for (const auto& [data, layout] : {std::pair(on.a, by.a), std::pair(on.b, by.b)})
    invariant(reinterpret_cast<uintptr_t>(data) % 16 == 0 && layout.stride % 16 == 0, "wide loads are aligned");
  invariant(by.product.epilogue == CUBLASLT_EPILOGUE_DEFAULT && !on.adds, "sums of integers have no epilogue");
}

void multiply_integers(const Algorithm& by, const Operands& on) {
  check_integers(by, on);
  const Matrix<int8_t> a(on.a, by.a, CUBLAS_OP_T), b(on.b, by.b, CUBLAS_OP_N);
  auto* const d = static_cast<int32_t*>(on.d);
  issue([=, rows = by.d.rows, cols = by.d.cols, stride = by.d.stride, K = summed(by)] {
    const Unlocked memory;
    for (int64_t col = 0; col < cols; ++col)
      for (int64_t row = 0; row < rows; ++row)
        d[col * stride + row] =
            std::inner_product(a.data + row * a.down, a.data + row * a.down + K, b.data + col * b.right, 0);
  });
}

/// What cuBLASLt has kernels for (its documentation, the table of types at cublasLtMatmul; of integers see above):
/// factors of one type, sums in f32, results in f32 or in that type, and a bias in the results' type.
bool typed(const Multiplication& m, const Layout& a, const Layout& b, const Layout& d) {
  if (a.type == CUDA_R_8I) return true;
  const bool result = d.type == CUDA_R_32F || d.type == a.type;
  const bool bias = !m.bias || m.bias_type == CUDA_UNSET || m.bias_type == d.type;
  return a.type == b.type && result && bias && m.scale_type == CUDA_R_32F && m.compute != CUBLAS_COMPUTE_32I &&
         (m.compute == CUBLAS_COMPUTE_32F || a.type == CUDA_R_32F);
}

/// Whether columns start at multiples of 4 bytes. If not, the library may have no kernel for 16-bit numbers. This
/// stand-in has none for them, not even as results, nor one for a bias with an odd number of elements.
bool even(const Layout& m) { return (m.type != CUDA_R_16BF && m.type != CUDA_R_16F) || m.stride % 2 == 0; }
bool even_bias(const Multiplication& m, const Layout& d) { return !adds_bias(m) || d.rows % 2 == 0; }
bool aligned(const void* data, uint32_t bytes) { return reinterpret_cast<uintptr_t>(data) % bytes == 0; }

/// Up to 256 bytes.
uint32_t alignment_of(const void* data) {
  uint32_t bytes = 256;
  while (!aligned(data, bytes)) bytes /= 2;
  return bytes;
}

/// Whether advice for some sizes serves others. This stand-in's serves numbers of tokens from half of the one it was
/// asked for; the library promises less, and gemm.cpp asks again if it refuses.
bool serves(const Algorithm& by, const Multiplication& m, const Layout& a, const Layout& b, const Layout& d) {
  const auto fits = [](const Layout& made_for, const Layout& is) {
    const auto enough = [](int64_t most, int64_t n) { return n == most || (n <= most && 2 * n >= most); };
    return enough(made_for.rows, is.rows) && enough(made_for.cols, is.cols) && made_for.stride == is.stride;
  };
  invariant(m.of_a == by.product.of_a && m.of_b == by.product.of_b && m.epilogue == by.product.epilogue &&
                m.compute == by.product.compute && !m.bias == !by.product.bias,
            "advice is for one kind of product");
  invariant(a.type == by.a.type && b.type == by.b.type && d.type == by.d.type, "advice is for one set of types");
  return fits(by.a, a) && fits(by.b, b) && fits(by.d, d);
}

}  // namespace

/// How many products the library was asked to choose a kernel for.
extern "C" int64_t cuda_on_host_heuristics() { return questions; }

const char* cublasLtGetStatusString(cublasStatus_t) { return "a failure of the stand-in"; }

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  *handle = "the library";
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType_t type, uint64_t rows,
                                          uint64_t cols, int64_t stride) {
  *layout = new Layout{type, int64_t(rows), int64_t(cols), stride};
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete layout;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* desc, cublasComputeType_t compute, cudaDataType_t scale) {
  *desc = new Multiplication{compute, scale, CUDA_UNSET, CUBLAS_OP_N, CUBLAS_OP_N, CUBLASLT_EPILOGUE_DEFAULT, nullptr};
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc) {
  delete desc;
  return CUBLAS_STATUS_SUCCESS;
}

namespace {

template <class T>
cublasStatus_t set(T& member, const void* value, size_t bytes) {
  if (bytes != sizeof member) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&member, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t which,
                                              const void* value, size_t bytes) {
  switch (which) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
      return set(desc->of_a, value, bytes);
    case CUBLASLT_MATMUL_DESC_TRANSB:
      return set(desc->of_b, value, bytes);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      return set(desc->epilogue, value, bytes);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      return set(desc->bias, value, bytes);
    case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE:
      return set(desc->bias_type, value, bytes);
  }
  return CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  *preference = new Preference{0, 256, 256, 256, 256};
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  delete preference;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t which, const void* value,
                                                    size_t bytes) {
  switch (which) {
    case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES:
      return set(preference->workspace, value, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES:
      return set(preference->a, value, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES:
      return set(preference->b, value, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES:
      return set(preference->c, value, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES:
      return set(preference->d, value, bytes);
  }
  return CUBLAS_STATUS_INVALID_VALUE;
}

// Which status says that there is no kernel depends on what is checked first, as in the library.
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a,
                                              cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c,
                                              cublasLtMatrixLayout_t d, cublasLtMatmulPreference_t preference, int most,
                                              cublasLtMatmulHeuristicResult_t* results, int* count) {
  ++questions;
  const int64_t of_a = desc->of_a == CUBLAS_OP_T ? a->rows : a->cols;
  const int64_t of_b = desc->of_b == CUBLAS_OP_T ? b->cols : b->rows;
  invariant(most == 1 && *c == *d && of_a == of_b, "the sizes of a product fit");
  invariant(adds_bias(*desc) == (desc->bias != nullptr), "the epilogue's bias is given");
  *count = 0;
  if (!even(*a)) return CUBLAS_STATUS_INVALID_VALUE;
  if (!typed(*desc, *a, *b, *d)) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (!even(*b) || !even(*d) || !even_bias(*desc, *d)) return CUBLAS_STATUS_NOT_SUPPORTED;
  results[0] = {{*desc, *a, *b, *d, *preference}, CUBLAS_STATUS_SUCCESS};
  *count = 1;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t desc, const void* alpha, const void* A,
                              cublasLtMatrixLayout_t a, const void* B, cublasLtMatrixLayout_t b, const void* beta,
                              const void* C, cublasLtMatrixLayout_t, void* D, cublasLtMatrixLayout_t d,
                              const cublasLtMatmulAlgo_t* algorithm, void* workspace, size_t bytes, cudaStream_t) {
  if (!serves(*algorithm, *desc, *a, *b, *d)) return CUBLAS_STATUS_INVALID_VALUE;
  const Preference& asked = algorithm->asked;
  const Multiplication& asked_for = algorithm->product;
  invariant(workspace && bytes >= asked.workspace, "there is the workspace that was promised");
  invariant(aligned(A, asked.a) && aligned(B, asked.b) && aligned(C, asked.c) && aligned(D, asked.d) && C == D,
            "operands are aligned as promised");
  invariant(aligned(desc->bias, alignment_of(asked_for.bias)), "the bias is aligned as the one of the question");
  const bool integers = desc->scale_type == CUDA_R_32I;
  const auto number = [&](const void* x) {
    return integers ? float(*static_cast<const int32_t*>(x)) : *static_cast<const float*>(x);
  };
  invariant(number(alpha) == 1 && (number(beta) == 0 || number(beta) == 1), "products are not scaled");
  const Algorithm by{*desc, *a, *b, *d, asked};
  const Operands on{A, B, D, number(beta) == 1};
  switch (a->type) {
    case CUDA_R_8I:
      multiply_integers(by, on);
      break;
    case CUDA_R_16BF:
      multiply<bfloat16>(by, on);
      break;
    case CUDA_R_16F:
      multiply<float16>(by, on);
      break;
    default:
      multiply<float>(by, on);
  }
  return CUBLAS_STATUS_SUCCESS;
}
