#include "serve/request_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <optional>

#include "base/words.h"

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

template <class StringView>
std::string_view view(StringView text) {
  return {text.data(), text.size()};
}

using Fields = http::request_header<>;

// Beast treats a body as chunked if the last coding of any Transfer-Encoding is `chunked`, and otherwise takes what
// follows the header for the next request. So the server only accepts what all readers of RFC 9112, section 6.3, agree
// on.
std::optional<HttpResponse> refusal_of_coding(const Fields& fields) {
  std::string codings;
  const auto [begin, end] = fields.equal_range(http::field::transfer_encoding);
  if (begin == end) return {};
  for (auto field = begin; field != end; ++field)
    codings.append(codings.empty() ? "" : ", ").append(lower_ascii(view(field->value())));
  if (codings == "chunked") {
    if (fields.version() >= 11 && fields.count(http::field::content_length) == 0) return {};
    return error_response(400, "Transfer-Encoding is for HTTP/1.1 without Content-Length");
  }
  const std::string message = "Transfer-Encoding is '" + codings + "', expected chunked";
  std::erase_if(codings, [](char c) { return c == ' ' || c == '\t'; });
  const bool is_framed = codings.ends_with(",chunked") && codings.find("chunked") == codings.size() - 7;
  return error_response(is_framed ? 501 : 400, message);
}

std::optional<HttpResponse> refusal_of(const Fields& fields, bool has_body) {
  if (auto refusal = refusal_of_coding(fields)) return refusal;
  const size_t hosts = fields.count(http::field::host);
  if (hosts > 1 || (hosts == 0 && fields.version() >= 11))
    return error_response(400, "the request has " + std::to_string(hosts) + " Host headers, expected one");
  const std::string coding = lower_ascii(view(fields[http::field::content_encoding]));
  if (has_body && !coding.empty() && coding != "identity")
    return error_response(415, "Content-Encoding is '" + coding + "', expected a body without any",
                          {{"Accept-Encoding", "identity"}});
  return {};
}

// "http://host:1/path?query" → "/path?query" (RFC 9112, section 3.2.2).
std::string origin_form(std::string_view target) {
  const size_t colon = target.find("://");
  const std::string scheme = lower_ascii(target.substr(0, colon));
  if (colon == target.npos || (scheme != "http" && scheme != "https")) return std::string(target);
  target.remove_prefix(colon + 3);
  target.remove_prefix(std::min(target.find_first_of("/?"), target.size()));
  return (target.starts_with('/') ? "" : "/") + std::string(target);
}

size_t size_of_empty_lines(std::string_view input) {
  size_t size = 0;
  while (input.substr(size).starts_with("\r\n")) size += 2;
  return size;
}

}  // namespace

struct RequestParser::Beast {
  explicit Beast(const HttpLimits& l) : limits(l) {
    parser.header_limit(l.header);
    parser.body_limit(l.body);
  }
  const HttpLimits& limits;
  http::request_parser<http::string_body> parser;
};

RequestParser::RequestParser(const HttpLimits& limits) : beast_(std::make_unique<Beast>(limits)) {}
RequestParser::~RequestParser() = default;

size_t RequestParser::put(std::string_view input) {
  size_t taken = 0;
  if (state_ == State::empty) {
    taken = size_of_empty_lines(input);
    const std::string_view rest = input.substr(taken);
    if (rest.empty() || rest == "\r") return taken;
    state_ = State::header;
  }
  if (state_ == State::header) {
    taken += parse(input.substr(taken));
    if (state_ != State::body && state_ != State::done) return taken;
    if (auto refusal = refusal_of(beast_->parser.get(), state_ == State::body)) {
      state_ = State::refused;
      refusal_ = *std::move(refusal);
      return taken;
    }
    beast_->parser.eager(true);  // until here it stops after the header
  }
  if (state_ == State::body && taken < input.size()) taken += parse(input.substr(taken));
  // Beast takes the bytes of a body at once, so the rest is the beginning of a chunk's line or of the trailer, which it
  // takes whole, however long they are.
  if (state_ == State::body && input.size() - taken > beast_->limits.header) {
    state_ = State::refused;
    refusal_ =
        error_response(431, fmt::format("a chunk's line or the trailer has more than {} bytes", beast_->limits.header));
  }
  return taken;
}

size_t RequestParser::parse(std::string_view input) {
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
  return fields.version() >= 11 && lower_ascii(view(fields[http::field::expect])) == "100-continue";
}

HttpRequest RequestParser::take() {
  auto message = beast_->parser.release();
  const std::string target = origin_form(view(message.target()));
  const size_t end = std::min(target.find('?'), target.size());
  HttpRequest request{.method = std::string(view(message.method_string())),
                      .path = decode_percent(std::string_view(target).substr(0, end), false),
                      .query = target.substr(std::min(end + 1, target.size())),
                      .keep_alive = message.keep_alive(),
                      .http_1_0 = message.version() < 11};
  for (const auto& field : message)
    request.headers.emplace_back(lower_ascii(view(field.name_string())), view(field.value()));
  request.body = std::move(message.body());
  return request;
}

}  // namespace dragoman
