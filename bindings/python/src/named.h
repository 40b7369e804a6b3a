#pragma once
#include <string_view>

#include "base/enum_names.h"
#include "base/error.h"
#include "base/utf8.h"

namespace dragoman::python {

/// The enumerator that Python names for `option`; Error for an unknown name.
template <class E>
E named(std::string_view name, const char* option) {
  if (const auto value = from_name<E>(name)) return *value;
  throw Error(fmt::format("{} is '{}', expected one of {}", option, beginning_of(name), all_names<E>()));
}

}  // namespace dragoman::python
