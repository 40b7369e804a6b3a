#pragma once
#include <string>
#include <string_view>

namespace dragoman {

/// "French" for "fr", as English calls the languages of ISO 639-1; of "pt-BR" the code follows in brackets. A code that
/// is not known stands for itself.
std::string language_name(std::string_view code);

}  // namespace dragoman
