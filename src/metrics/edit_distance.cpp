#include "metrics/edit_distance.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace dragoman {
namespace {

constexpr int outside_band = 1 << 30;

}  // namespace

EditDistance::EditDistance(std::u32string_view reference, size_t hypothesis_length) : reference_(reference) {
  const int columns = int(reference.size()) + 1, rows = int(hypothesis_length) + 1;
  const double slope = rows > 1 ? double(columns - 1) / (rows - 1) : 1;
  constexpr double least_width = 25;  // tercom's beam
  const int width = int(slope / 2 > least_width ? std::ceil(slope / 2 + least_width) : least_width);
  bands_.push_back({0, columns, 0});
  for (int row = 1; row < rows; ++row) {
    const int diagonal = int(std::floor(row * slope));
    const int end = row == rows - 1 ? columns : std::min(columns, diagonal + width);
    const Band& last = bands_.back();
    bands_.push_back({std::max(0, diagonal - width), end, last.offset + size_t(last.end - last.begin)});
  }
  costs_.resize(bands_.back().offset + size_t(bands_.back().end - bands_.back().begin));
  for (int column = 0; column < columns; ++column) costs_[size_t(column)] = column;
  trial_ = costs_;
}

int EditDistance::cost(const std::vector<int>& costs, int row, int column) const {
  const Band& band = bands_[size_t(row)];
  return column < band.begin || column >= band.end ? outside_band : costs[band.offset + size_t(column - band.begin)];
}

// Computes one row of the table from the previous row, `above`.
void EditDistance::fill(std::vector<int>& costs, const std::vector<int>& above, int row, char32_t word) const {
  const Band& band = bands_[size_t(row)];
  int* const out = costs.data() + band.offset;
  int left = outside_band, diagonal = cost(above, row - 1, band.begin - 1);
  for (int column = band.begin; column < band.end; ++column) {
    const int over = cost(above, row - 1, column);
    const int replaced = column == 0 ? outside_band : diagonal + (word != reference_[size_t(column - 1)]);
    left = std::min({replaced, over + 1, left + 1, outside_band});
    out[column - band.begin] = left;
    diagonal = over;
  }
}

int EditDistance::to(std::u32string_view hypothesis) {
  invariant(hypothesis.size() + 1 == bands_.size(), "EditDistance: a hypothesis of the length it was made for");
  hypothesis_ = hypothesis;
  for (size_t i = 0; i < hypothesis.size(); ++i) fill(costs_, costs_, int(i + 1), hypothesis[i]);
  return costs_.back();
}

int EditDistance::to_changed(std::u32string_view hypothesis, size_t same) {
  for (size_t i = same; i < hypothesis.size(); ++i)
    fill(trial_, i == same ? costs_ : trial_, int(i + 1), hypothesis[i]);
  return same < hypothesis.size() ? trial_.back() : costs_.back();
}

// tercom prefers keeping and replacing, then insertion, then deletion, and defines the edits in the opposite direction.
EditDistance::Edit EditDistance::last_edit(int row, int column) const {
  if (row == 0) return Edit::insert;
  if (column == 0) return Edit::remove;
  const int least = cost(costs_, row, column);
  const bool equal = hypothesis_[size_t(row - 1)] == reference_[size_t(column - 1)];
  if (least == cost(costs_, row - 1, column - 1) + !equal) return equal ? Edit::keep : Edit::replace;
  return least == cost(costs_, row - 1, column) + 1 ? Edit::remove : Edit::insert;
}

EditAlignment EditDistance::align() const {
  int row = int(hypothesis_.size()), column = int(reference_.size());
  EditAlignment result{std::vector<int>(reference_.size()), std::vector<bool>(reference_.size()),
                       std::vector<bool>(hypothesis_.size())};
  while (row > 0 || column > 0) {
    const Edit edit = last_edit(row, column);
    if (edit != Edit::insert) result.hypothesis_is_wrong[size_t(--row)] = edit != Edit::keep;
    if (edit == Edit::remove) continue;
    result.reference_is_wrong[size_t(--column)] = edit != Edit::keep;
    result.position[size_t(column)] = edit == Edit::insert ? row - 1 : row;
  }
  return result;
}

}  // namespace dragoman
