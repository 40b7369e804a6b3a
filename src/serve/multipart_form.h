#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dragoman {

/// Names and values of a form in multipart/form-data (RFC 7578), in their order, without its files. `type` is the
/// header Content-Type. Error for a body that is damaged, or that has text before its first boundary or after its last
/// one.
std::vector<std::pair<std::string, std::string>> multipart_form(std::string_view type, std::string_view body);

}  // namespace dragoman
