#pragma once
#include <span>

#include "serve/service.h"

namespace dragoman {

/// The HTTP interface of LibreTranslate (https://github.com/LibreTranslate/LibreTranslate), which many programs speak:
/// parameters, answers and messages are its own.
std::span<const Route> libretranslate_routes();

}  // namespace dragoman
