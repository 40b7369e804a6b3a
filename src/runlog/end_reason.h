#pragma once
#include "base/enum_names.h"
#include "dragoman/run_event.h"

namespace dragoman {

inline std::span<const EnumName<RunEnd::Reason>> enum_names(RunEnd::Reason) {
  static constexpr EnumName<RunEnd::Reason> names[] = {{RunEnd::after, "after"},
                                                       {RunEnd::early_stopping, "early-stopping"},
                                                       {RunEnd::signal, "signal"},
                                                       {RunEnd::end_of_text, "end-of-text"}};
  return names;
}

}  // namespace dragoman
