#include "decode/candidates.h"

#include <algorithm>

#include "base/threads.h"

namespace dragoman {

void Candidates::add(int sentence, std::vector<int32_t> pieces) { sentences_[sentence] = {std::move(pieces), {}}; }

const std::vector<int32_t>& Candidates::join() {
  int32_t limit = 0;
  for (const auto& [id, s] : sentences_)
    if (!s.pieces.empty()) limit = std::max(limit, s.pieces.back() + 1);
  std::vector<int32_t> place(size_t(limit), -1);
  for (const auto& [id, s] : sentences_)
    for (const int32_t piece : s.pieces) place[piece] = 0;
  together_.clear();
  for (int32_t piece = 0; piece < limit; ++piece) {
    if (place[piece] < 0) continue;
    place[piece] = int32_t(together_.size());
    together_.push_back(piece);
  }
  for (auto& [id, s] : sentences_) {
    s.places.clear();
    for (const int32_t piece : s.pieces) s.places.push_back(place[piece]);
  }
  return together_;
}

// A multiple of the longest vector: then a kernel meets the scores of a sentence in whole vectors, and sums them up in
// the same order however many columns follow.
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
      const std::vector<int32_t>& places = sentences_.at(sentence_of_row[r]).places;
      float* row = to.row(r);
      for (size_t i = 0; i < places.size(); ++i) row[i] = from.row(r)[places[i]];
      std::fill(row + places.size(), row + to.cols, impossible);
    }
  });
}

}  // namespace dragoman
