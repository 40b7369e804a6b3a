#pragma once
#include "dragoman/average.h"
#include "dragoman/convert.h"
#include "dragoman/quantize.h"
#include "options/overwriting.h"

namespace dragoman {

/// The files that functions which make a model from others read and write.
CommandFiles files_of(const AverageOptions& options);
CommandFiles files_of(const ConvertOptions& options);
CommandFiles files_of(const QuantizeOptions& options);

}  // namespace dragoman
