#pragma once
#include "base/enum_names.h"

namespace dragoman {

/// Kinds of normalisation of a vector. layer: mean 0 and variance 1, then a learned gain and shift (Ba et al. 2016);
/// rms: mean square 1, then a learned gain (Zhang & Sennrich 2019); batch: each column has mean 0 and variance 1 over
/// all vectors of a batch, then a learned gain and shift (Ioffe & Szegedy 2015).
enum class NormKind { layer, rms, batch };

inline std::span<const EnumName<NormKind>> enum_names(NormKind) {
  static constexpr EnumName<NormKind> names[] = {
      {NormKind::layer, "layer"}, {NormKind::rms, "rms"}, {NormKind::batch, "batch"}};
  return names;
}

}  // namespace dragoman
