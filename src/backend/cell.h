#pragma once
#include "base/enum_names.h"

namespace dragoman {

/// A recurrent cell: how an input updates the state h of a sentence. a = W x + b and s = U h are its products, with a
/// slice for each gate; σ is the logistic function, ⊙ the elementwise product.
///   gru (Cho et al. 2014), reset after the product as in Marian and cuDNN, slices reset, update, candidate:
///       r = σ(a_r + s_r)   u = σ(a_u + s_u)   n = tanh(a_n + r ⊙ s_n)   h' = (1 - u) ⊙ n + u ⊙ h
///   lstm (Hochreiter & Schmidhuber 1997, with the forget gate of Gers et al. 2000), slices input, forget, candidate,
///   output, and a second state c that only the cell itself reads:
///       i, f, o = σ(a + s)   g = tanh(a_g + s_g)   c' = f ⊙ c + i ⊙ g   h' = o ⊙ tanh(c')
enum class Cell { gru, lstm };

/// G: slices of a and s.
inline int gates_of(Cell cell) { return cell == Cell::gru ? 3 : 4; }

inline std::span<const EnumName<Cell>> enum_names(Cell) {
  static constexpr EnumName<Cell> names[] = {{Cell::gru, "gru"}, {Cell::lstm, "lstm"}};
  return names;
}

}  // namespace dragoman
