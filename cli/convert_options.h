#pragma once
#include "dragoman/convert.h"

namespace dragoman {

struct ConvertCommandOptions : ConvertOptions {
  bool quiet = false;
};

}  // namespace dragoman
