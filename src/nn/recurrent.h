#pragma once
#include "backend/cell.h"
#include "nn/layers.h"
#include "ops/recurrent.h"
#include "tensor/spans.h"

namespace dragoman {

/// The order in which a recurrence reads the rows of a sentence. reversed: backward, but </s> stays the last.
enum class Direction { forward, backward, reversed };

/// The rows of packed sentences in the order in which a recurrence reads them: the first row of each sentence, longest
/// sentences first, then the second row of each sentence that has one, and so on. So the sentences of a step are the
/// first sentences of the previous step, and there is no padding.
struct Steps {
  std::vector<int> sentences;   // (B): longest first
  std::vector<int64_t> begins;  // (T+1): step t has entries [begins[t], begins[t+1]) of `rows`
  Tensor rows;                  // (N) int32: packed rows, in the order of steps
  Tensor positions;             // (N) int32: the index in `rows` of each packed row

  Steps(const Spans& spans, Direction direction);
  int64_t count() const { return int64_t(begins.size()) - 1; }
  int64_t width(int64_t step) const { return begins[step + 1] - begins[step]; }  // n sentences
};

/// The first n sentences of a state.
CellState first_rows(const CellState& state, int64_t n);

/// A recurrent layer of size D: a cell with its products. With `norm`, both products are layer-normalised, all gates
/// together (Ba et al. 2016, section 3.1, in Marian's form).
struct Recurrence {
  Cell cell;
  Linear input;                // (G·D,inputs) (G·D)
  Var state;                   // (G·D,D)
  Var input_gain, state_gain;  // (G·D) of the norms, or empty

  struct Design {
    Cell cell;
    int64_t inputs, dim;
    bool norm;
  };
  static Recurrence make(Parameters& p, const std::string& name, const Design& design);
  /// The input's part of the gates, for any number of steps: x (N,inputs) → (N,G·D).
  Var gates(Context& cx, const Var& x) const;
  CellState step(Context& cx, const Var& gates, const CellState& before) const;
  /// All rows of packed sentences: x (N,inputs) → h (N,D).
  Var operator()(Context& cx, const Var& x, const Steps& steps) const;

 private:
  Var state_product(Context& cx, const Var& h) const;
};

}  // namespace dragoman
