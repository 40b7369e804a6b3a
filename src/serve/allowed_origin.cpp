#include "serve/allowed_origin.h"

#include <algorithm>
#include <string_view>

#include "base/error.h"
#include "base/number.h"
#include "base/words.h"

namespace dragoman {
namespace {

bool is_letter(char c) { return c >= 'a' && c <= 'z'; }

bool is_scheme(std::string_view text) {
  const auto follows = [](char c) { return is_letter(c) || is_digit(c) || c == '+' || c == '-' || c == '.'; };
  return !text.empty() && is_letter(text[0]) && std::ranges::all_of(text, follows);
}

// A name, an IPv4 address, or an IPv6 address in brackets.
bool is_host(std::string_view text) {
  if (text.starts_with('[')) {
    const auto of_address = [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || c == ':' || c == '.'; };
    return text.size() > 2 && text.ends_with(']') && std::ranges::all_of(text.substr(1, text.size() - 2), of_address);
  }
  const auto of_name = [](char c) { return is_letter(c) || is_digit(c) || c == '-' || c == '.' || c == '_'; };
  return !text.empty() && std::ranges::all_of(text, of_name);
}

bool is_port(std::string_view text, std::string_view scheme) {
  const int port = parse_number<int>(text).value_or(0);
  const bool is_implied = (scheme == "http" && port == 80) || (scheme == "https" && port == 443);
  return port >= 1 && port <= 65'535 && !text.starts_with('0') && !is_implied;
}

bool is_origin(std::string_view text) {
  const size_t separator = text.find("://");
  if (separator == text.npos) return false;
  const std::string_view scheme = text.substr(0, separator), rest = text.substr(separator + 3);
  const size_t bracket = rest.find(']');
  const size_t colon = rest.find(':', bracket == rest.npos ? 0 : bracket);
  if (!is_scheme(scheme) || !is_host(rest.substr(0, colon))) return false;
  return colon == rest.npos || is_port(rest.substr(colon + 1), scheme);
}

}  // namespace

void require_origin(const std::string& origin) {
  if (origin == "*" || is_origin(origin)) return;
  throw Error(fmt::format("--allow-origin '{}' is not an origin, expected * or scheme://host[:port]", origin),
              "write it as browsers do, such as https://a.example or http://localhost:8080: in lower case, without a "
              "path, and without port 80 of http and 443 of https");
}

Headers headers_that_allow(const std::string& origin) {
  if (origin.empty()) return {};
  return {{"Access-Control-Allow-Origin", origin},
          {"Access-Control-Allow-Headers", "Authorization, Content-Type"},
          {"Access-Control-Allow-Methods", "GET, POST"},
          {"Access-Control-Expose-Headers", "Retry-After"}};
}

}  // namespace dragoman
