#pragma once
#include "backend/dropout.h"
#include "backend/kernel.h"

namespace dragoman {

/// Table row + position of each token: y = dropout(scale · table[id] + positions[token]).
struct Embedding {
  Tensor ids;             // (N) int32; -1: zeros instead of a row of the table
  Tensor positions;       // (N,2) int32: sentence, token; the token picks the position
  Tensor table;           // (V,D)
  Tensor position_table;  // (P,D) or empty
  double scale = 1;       // √D
  Dropout dropout;
};

/// Slots of the kernel table (backend/backend.h): embeddings.
struct EmbeddingKernels {
  // Embedding.  y, dy (N,D)
  Kernel<void(const Tensor& y, const Embedding& e)> embedding{"embedding"};
  Kernel<void(Grad dtable, Grad dposition_table, const Tensor& dy, const Embedding& e)> embedding_backward{
      "embedding_backward"};

  template <class Kernels, class F>
  static void each(Kernels& k, const F& f) {
    const auto slots = [&](auto&... slot) { (f(slot), ...); };
    slots(k.embedding, k.embedding_backward);
  }
};

}  // namespace dragoman
