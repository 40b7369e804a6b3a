#pragma once
#include "model/config.h"

namespace dragoman {

/// The ids in vocabularies that dragoman makes.
constexpr int32_t unk_id = SpecialIds{}.unk, bos_id = SpecialIds{}.bos, eos_id = SpecialIds{}.eos;

}  // namespace dragoman
