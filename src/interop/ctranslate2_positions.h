#pragma once
#include "interop/ctranslate2_variables.h"
#include "model/config.h"

namespace dragoman {

/// Finds out which positions a CTranslate2 model has, and maps their variables. `config` already has the sizes of
/// layers. Error, naming the variable, for positions that dragoman has no equal of.
void set_ctranslate2_positions(CTranslate2Variables& variables, ModelConfig& config);

}  // namespace dragoman
