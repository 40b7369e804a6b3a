#pragma once
#include <string_view>

namespace dragoman {

/// All named character references of HTML, without "&" and ";": a name, a blank, its characters, a blank, and so on.
std::string_view named_references();

/// The names that HTML also accepts without ";", for old pages. A blank after each.
std::string_view references_without_semicolon();

}  // namespace dragoman
