#include "tensor/dtype.h"

#include <fmt/format.h>

namespace dragoman {

int64_t size_of(DType dtype) {
  switch (dtype) {
    case DType::f64:
    case DType::i64:
      return 8;
    case DType::f32:
    case DType::i32:
      return 4;
    case DType::bf16:
    case DType::f16:
      return 2;
    case DType::i8:
    case DType::u8:
      return 1;
  }
  fail("unknown element type {}", int(dtype));
}

std::string_view name_of(DType dtype) {
  constexpr std::string_view names[] = {"F64", "F32", "BF16", "F16", "I64", "I32", "I8", "U8"};
  return names[int(dtype)];
}

}  // namespace dragoman

fmt::format_context::iterator fmt::formatter<dragoman::DType>::format(dragoman::DType dtype,
                                                                      format_context& context) const {
  return fmt::formatter<std::string_view>::format(dragoman::name_of(dtype), context);
}
