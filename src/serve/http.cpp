#include "serve/http.h"

#include <algorithm>
#include <boost/beast/http/status.hpp>
#include <nlohmann/json.hpp>

#include "base/json_text.h"

namespace dragoman {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

}  // namespace

std::string_view HttpRequest::header(std::string_view name) const {
  const auto found = std::ranges::find(headers, name, [](const auto& h) { return std::string_view(h.first); });
  return found == headers.end() ? std::string_view() : std::string_view(found->second);
}

HttpResponse error_response(int status, std::string_view message, Headers headers) {
  const nlohmann::json body = {{"error", message}};
  return {.status = status, .body = json_text(body), .headers = std::move(headers)};
}

HttpResponse busy_response(int status, std::string_view message) {
  return error_response(status, message, {{"Retry-After", "1"}});
}

HttpResponse no_memory_response() {
  return busy_response(503,
                       "there is too little memory for this request at the moment: a shorter text or a smaller beam "
                       "needs less");
}

std::string decode_percent(std::string_view text, bool plus_is_blank) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
    const int low = high >= 0 ? hex_digit(text[i + 2]) : -1;
    if (low >= 0) {
      decoded += char(16 * high + low);
      i += 2;
    } else {
      decoded += plus_is_blank && text[i] == '+' ? ' ' : text[i];
    }
  }
  return decoded;
}

std::string_view reason_of(int status) {
  const auto text = boost::beast::http::obsolete_reason(boost::beast::http::status(status));
  return {text.data(), text.size()};
}

}  // namespace dragoman
