#include "interop/suppressed_bias.h"

#include <fmt/format.h>

#include "base/error.h"
#include "interop/export.h"
#include "interop/raw_bytes.h"

namespace dragoman {

TensorEntry suppressed_bias(const TensorEntry* bias, int pieces, std::vector<int> suppressed) {
  if (bias)
    require(bias->shape == std::vector<int64_t>{pieces},
            "the bias of the output layer is ({}), expected one number for each of {} pieces",
            fmt::join(bias->shape, ","), pieces);
  const std::optional<TensorEntry> own = bias ? std::optional(*bias) : std::nullopt;
  return {.name = "output.bias", .dtype = DType::f32, .shape = {pieces}, .make = [=, ids = std::move(suppressed)] {
            std::vector<float> values = own ? floats_of(*own) : std::vector<float>(size_t(pieces));
            for (const int id : ids) values.at(size_t(id)) = suppressed_logit;
            return raw_bytes(values);
          }};
}

}  // namespace dragoman
