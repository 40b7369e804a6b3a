#include "tensor/shape.h"

#include <fmt/format.h>

#include "base/error.h"

namespace dragoman {

Shape::Shape(std::initializer_list<int64_t> extents) : rank_(int(extents.size())) {
  invariant(extents.size() <= 3, "a shape has at most three axes");
  std::copy(extents.begin(), extents.end(), extents_.begin());
}

int64_t Shape::elements() const {
  if (rank_ == 0) return 0;
  int64_t product = 1;
  for (int i = 0; i < rank_; ++i) product *= extents_[i];
  return product;
}

}  // namespace dragoman

fmt::format_context::iterator fmt::formatter<dragoman::Shape>::format(const dragoman::Shape& shape,
                                                                      format_context& context) const {
  std::string text = "(";
  for (int i = 0; i < shape.rank(); ++i) text += (i ? "," : "") + std::to_string(shape[i]);
  return fmt::formatter<std::string_view>::format(text + ")", context);
}
