#include "serve/allowed_origin.h"

#include <arpa/inet.h>

#include <algorithm>
#include <string_view>
#include <vector>

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

bool is_address(int family, std::string_view text) {
  in6_addr bytes;  // of IPv4 too, which has fewer
  return std::ranges::none_of(text, [](char c) { return c >= 'A' && c <= 'F'; }) &&
         inet_pton(family, std::string(text).c_str(), &bytes) == 1;
}

// Labels with dots between, and perhaps one at the end. If the last one is a number, browsers read an IPv4 address.
bool is_name(std::string_view text) {
  const auto of_label = [](char c) { return is_letter(c) || is_digit(c) || c == '-' || c == '_'; };
  std::vector<std::string_view> labels = split_at(text, ".");
  if (labels.size() > 1 && labels.back().empty()) labels.pop_back();
  for (const std::string_view label : labels)
    if (label.empty() || !std::ranges::all_of(label, of_label)) return false;
  return !std::ranges::all_of(labels.back(), [](char c) { return is_digit(c); }) || is_address(AF_INET, text);
}

// A name, an IPv4 address, or an IPv6 address in brackets.
bool is_host(std::string_view text) {
  if (!text.starts_with('[')) return is_name(text);
  return text.size() > 2 && text.ends_with(']') && is_address(AF_INET6, text.substr(1, text.size() - 2));
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
