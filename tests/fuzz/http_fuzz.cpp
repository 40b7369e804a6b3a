#include "base/error.h"
#include "serve/fields.h"
#include "serve/own_request.h"
#include "serve/request_parser.h"
#include "tests/fuzz/target.h"

namespace dragoman {
namespace {

constexpr size_t first_piece = 40;  // bytes that come before the others, as from a network

std::string post(const std::string& type, const std::string& body) {
  return "POST /v1/translate?source=en HTTP/1.1\r\nHost: a\r\nContent-Type: " + type +
         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

void use(const HttpRequest& request) { read_translate_request(fields_of(request), SearchOptions()); }

}  // namespace

std::vector<std::string> seeds() {
  return {post("application/json",
               R"({"text":["one\n two","\u00e9"],"n_best":3,"beam_size":4,"sampling":"topk","seed":7,"stream":false})"),
          post("application/x-www-form-urlencoded", "text=a+b%0Ac&source=en&target=fr&text=d"),
          post("multipart/form-data; boundary=x",
               "--x\r\nContent-Disposition: form-data; name=\"text\"\r\n\r\na b\r\n--x--\r\n"),
          "POST /v1/translate HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n"
          "c\r\n{\"text\":\"a\"}\r\n0\r\nTrailer: x\r\n\r\n",
          "GET /languages HTTP/1.0\r\nConnection: keep-alive\r\n\r\n\r\nGET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n"};
}

void read(std::string_view input) {
  const HttpLimits limits;
  RequestParser parser(limits);
  std::string come(input.substr(0, first_piece));
  come.erase(0, parser.put(come));
  using State = RequestParser::State;
  if (parser.state() != State::refused && parser.state() != State::done) {
    come += input.substr(std::min(first_piece, input.size()));
    parser.put(come);
  }
  if (parser.state() == State::body) parser.expects_continue();
  if (parser.state() == State::done) use(parser.take());
}

}  // namespace dragoman
