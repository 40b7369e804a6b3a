#pragma once
#include <string_view>

namespace dragoman {

/// All named character references of HTML: name, blank, characters, blank, and so on. Without "&" and ";".
std::string_view named_references();

/// Those names that HTML also takes without ";", for the sake of old pages. A blank after each.
std::string_view references_without_semicolon();

}  // namespace dragoman
