#pragma once
#include <fmt/core.h>

#include <array>
#include <cstdint>
#include <initializer_list>

namespace dragoman {

/// Extents of a tensor of rank 0 (no tensor) to 3, outermost first. Prints as "(29,512)".
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<int64_t> extents);

  int rank() const { return rank_; }
  int64_t operator[](int axis) const { return extents_[axis]; }
  int64_t back() const { return rank_ == 0 ? 0 : extents_[rank_ - 1]; }
  int64_t elements() const;
  bool operator==(const Shape&) const = default;

 private:
  std::array<int64_t, 3> extents_{};
  int rank_ = 0;
};

}  // namespace dragoman

template <>
struct fmt::formatter<dragoman::Shape> : fmt::formatter<std::string_view> {
  fmt::format_context::iterator format(const dragoman::Shape& shape, format_context& context) const;
};
