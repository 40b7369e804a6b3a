#pragma once
#include <string>
#include <string_view>

namespace dragoman {

/// "French" for "fr": the English names of the languages of ISO 639-1; for "pt-BR" the code follows in brackets. An
/// unknown code stands for itself.
std::string language_name(std::string_view code);

}  // namespace dragoman
