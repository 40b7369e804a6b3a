#include "serve/request_parser.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cctype>

namespace dragoman {
namespace {

namespace http = boost::beast::http;

HttpResponse refusal_of(const boost::beast::error_code& error, const HttpLimits& limits) {
  if (error == http::error::body_limit)
    return error_response(413, "the body has more than " + std::to_string(limits.body) + " bytes");
  if (error == http::error::header_limit)
    return error_response(431, "the header has more than " + std::to_string(limits.header) + " bytes");
  if (error == http::error::bad_version) return error_response(505, "expected HTTP/1.1 or HTTP/1.0");
  return error_response(400, "this is not an HTTP request: " + error.message());
}

std::string lower(std::string_view text) {
  std::string all(text);
  std::ranges::transform(all, all.begin(), [](unsigned char c) { return char(std::tolower(c)); });
  return all;
}

template <class StringView>
std::string_view view(StringView text) {
  return {text.data(), text.size()};
}

}  // namespace

struct RequestParser::Beast {
  explicit Beast(const HttpLimits& l) : limits(l) {
    parser.eager(true);
    parser.header_limit(l.header);
    parser.body_limit(l.body);
  }
  const HttpLimits& limits;
  http::request_parser<http::string_body> parser;
};

RequestParser::RequestParser(const HttpLimits& limits) : beast_(std::make_unique<Beast>(limits)) {}
RequestParser::~RequestParser() = default;

size_t RequestParser::put(std::string_view input) {
  auto& parser = beast_->parser;
  boost::beast::error_code error;
  const size_t taken = parser.put(boost::asio::buffer(input.data(), input.size()), error);
  if (error && error != http::error::need_more) {
    state_ = State::refused;
    refusal_ = refusal_of(error, beast_->limits);
  } else {
    state_ = parser.is_done() ? State::done : parser.is_header_done() ? State::body : State::header;
  }
  return taken;
}

bool RequestParser::expects_continue() const {
  const auto& fields = beast_->parser.get();
  return fields.version() >= 11 && lower(view(fields[http::field::expect])) == "100-continue";
}

HttpRequest RequestParser::take() {
  auto message = beast_->parser.release();
  const std::string_view target = view(message.target());
  const size_t end = std::min(target.find('?'), target.size());
  HttpRequest request{.method = std::string(view(message.method_string())),
                      .path = decode_percent(target.substr(0, end), false),
                      .query = std::string(target.substr(std::min(end + 1, target.size()))),
                      .keep_alive = message.keep_alive(),
                      .http_1_0 = message.version() < 11};
  for (const auto& field : message) request.headers.emplace_back(lower(view(field.name_string())), view(field.value()));
  request.body = std::move(message.body());
  return request;
}

}  // namespace dragoman
