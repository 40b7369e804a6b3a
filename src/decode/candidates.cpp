#include "decode/candidates.h"

#include <algorithm>

#include "base/threads.h"

namespace dragoman {

void Candidates::add(int sentence, std::vector<int32_t> pieces) { sentences_[sentence] = {std::move(pieces), {}}; }

const std::vector<int32_t>& Candidates::join() {
  int32_t limit = 0;
  for (const auto& [id, s] : sentences_)
    if (!s.pieces.empty()) limit = std::max(limit, s.pieces.back() + 1);
  std::vector<int32_t> position(size_t(limit), -1);
  for (const auto& [id, s] : sentences_)
    for (const int32_t piece : s.pieces) position[piece] = 0;
  together_.clear();
  for (int32_t piece = 0; piece < limit; ++piece) {
    if (position[piece] < 0) continue;
    position[piece] = int32_t(together_.size());
    together_.push_back(piece);
  }
  for (auto& [id, s] : sentences_) {
    s.positions.clear();
    for (const int32_t piece : s.pieces) s.positions.push_back(position[piece]);
  }
  return together_;
}

// A multiple of the largest SIMD vector: kernels then read the scores of a sentence in whole vectors and sum them in
// the same order, however many columns follow.
int64_t Candidates::columns() const {
  constexpr size_t step = 64;
  size_t most = 0;
  for (const auto& [id, s] : sentences_) most = std::max(most, s.pieces.size());
  return int64_t((most + step - 1) / step * step);
}

void Candidates::take(const Tensor& out, const Tensor& joint, std::span<const int> sentence_of_row) const {
  const auto to = out.view<float>();
  const auto from = joint.view<const float>();
  parallel_blocks(to.rows, 1, [&](Range rows, int) {
    for (int64_t r = rows.begin; r < rows.end; ++r) {
      const std::vector<int32_t>& positions = sentences_.at(sentence_of_row[r]).positions;
      float* row = to.row(r);
      for (size_t i = 0; i < positions.size(); ++i) row[i] = from.row(r)[positions[i]];
      std::fill(row + positions.size(), row + to.cols, impossible);
    }
  });
}

}  // namespace dragoman
