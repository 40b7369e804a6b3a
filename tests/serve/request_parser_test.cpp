#include "serve/request_parser.h"

#include <gmock/gmock.h>

namespace dragoman {
namespace {

using State = RequestParser::State;
using testing::HasSubstr;

// Puts the bytes in pieces of some size, as a network may bring them; what is left over stays in `input`.
State put(RequestParser& parser, std::string& input, size_t piece = 1000) {
  std::string come;
  while (!input.empty() && parser.state() != State::done && parser.state() != State::refused) {
    come += input.substr(0, piece);
    input.erase(0, piece);
    come.erase(0, parser.put(come));
  }
  input = come + input;
  return parser.state();
}

HttpRequest parsed(std::string input, size_t piece = 1000) {
  const HttpLimits limits;
  RequestParser parser(limits);
  EXPECT_EQ(put(parser, input, piece), State::done) << parser.refusal().body;
  return parser.take();
}

HttpResponse refused(std::string input, const HttpLimits& limits = {}) {
  RequestParser parser(limits);
  EXPECT_EQ(put(parser, input), State::refused);
  return parser.refusal();
}

std::string post(const std::string& headers) { return "POST / HTTP/1.1\r\nHost: x\r\n" + headers + "\r\n"; }

TEST(RequestParser, ReadsARequestHoweverItsBytesCome) {
  const std::string post =
      "POST /trans%6cate?a=b%20c HTTP/1.1\r\nHost: x\r\nX-Thing: 7\r\nContent-Length: 5\r\n\r\nq=abc";
  for (const size_t piece : {1, 2, 7, 1000}) {
    const HttpRequest request = parsed(post, piece);
    EXPECT_EQ(request.method, "POST");
    EXPECT_EQ(request.path, "/translate");
    EXPECT_EQ(request.query, "a=b%20c");
    EXPECT_EQ(request.header("x-thing"), "7");
    EXPECT_EQ(request.header("x-other"), "");
    EXPECT_EQ(request.body, "q=abc");
    EXPECT_TRUE(request.keep_alive);
  }
}

TEST(RequestParser, PutsTheChunksOfABodyTogether) {
  const std::string post =
      "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n";
  for (const size_t piece : {1, 3, 1000}) EXPECT_EQ(parsed(post, piece).body, "abcde");
}

TEST(RequestParser, LeavesWhatBelongsToTheNextRequest) {
  const HttpLimits limits;
  RequestParser parser(limits);
  std::string input = "GET /a HTTP/1.1\r\nHost: x\r\n\r\nGET /b HTTP/1.1\r\nHost: x\r\n\r\n";
  ASSERT_EQ(put(parser, input), State::done);
  EXPECT_EQ(parser.take().path, "/a");
  EXPECT_EQ(input, "GET /b HTTP/1.1\r\nHost: x\r\n\r\n");
}

TEST(RequestParser, ReportsWhetherTheConnectionIsKeptAlive) {
  EXPECT_FALSE(parsed("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").keep_alive);
  EXPECT_FALSE(parsed("GET / HTTP/1.0\r\n\r\n").keep_alive);
  EXPECT_TRUE(parsed("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").keep_alive);
}

TEST(RequestParser, RefusesWhatIsTooLongOrNoRequest) {
  HttpLimits limits;
  limits.body = 10, limits.header = 100;
  EXPECT_EQ(refused("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\n", limits).status, 413);
  EXPECT_EQ(
      refused("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nb\r\n01234567890\r\n0\r\n\r\n", limits)
          .status,
      413);
  EXPECT_EQ(refused("GET /" + std::string(200, 'x') + " HTTP/1.1\r\nHost: x\r\n\r\n", limits).status, 431);
  EXPECT_EQ(refused("hello\r\n\r\n").status, 400);
  EXPECT_EQ(refused("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n").status, 400);
  EXPECT_THAT(refused("\x16\x03\x01\x02\r\n\r\n").body, HasSubstr("not an HTTP request")) << "TLS";
}

// What is put at once here, a server has to keep until the line or the trailer ends.
TEST(RequestParser, RefusesALongLineOfAChunkAndALongTrailer) {
  HttpLimits limits;
  limits.header = 100;
  const std::string begin = post("Transfer-Encoding: chunked\r\n"), long_line(200, 'a');
  std::string lines;
  for (int i = 0; i < 20; ++i) lines += "X: abcdefgh\r\n";
  for (const std::string& endless : {"1;a=" + long_line, "1\r\nx\r\n1;a=" + long_line, "0;a=" + long_line,
                                     "0\r\nX: " + long_line, "0\r\n" + lines, std::string(200, '0')}) {
    const HttpResponse refusal = refused(begin + endless, limits);
    EXPECT_EQ(refusal.status, 431) << endless;
    EXPECT_THAT(refusal.body, HasSubstr("more than 100 bytes"));
  }
  const std::string shorter(90, 'a');
  EXPECT_EQ(parsed(begin + "1;a=" + shorter + "\r\nx\r\n0\r\nX: " + shorter + "\r\n\r\n", 1).body, "x");
}

TEST(RequestParser, RefusesTwoLengthsOfABody) {
  EXPECT_EQ(refused("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd").status, 400);
  for (const char* lengths :
       {"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n",
        "Content-Length: 3\r\nTransfer-Encoding: gzip\r\n"})
    EXPECT_EQ(refused(post(lengths) + "0\r\n\r\n").status, 400) << lengths;
}

TEST(RequestParser, RefusesEveryTransferEncodingButChunked) {
  const auto status = [](const std::string& codings) {
    return refused(post("Transfer-Encoding: " + codings + "\r\n") + "GET / HTTP/1.1\r\nHost: x\r\n\r\n").status;
  };
  for (const char* framed :
       {"gzip, chunked", "gzip,chunked", "identity, Chunked", "gzip\r\nTransfer-Encoding: chunked"})
    EXPECT_EQ(status(framed), 501) << framed;
  for (const char* unframed :
       {"gzip", "xchunked", "chunked, gzip", "chunked, chunked", "chunked;q=1", "chun ked", "identity", "",
        "chunked\r\nTransfer-Encoding: gzip", "chunked\r\nTransfer-Encoding: chunked"})
    EXPECT_EQ(status(unframed), 400) << unframed;
  EXPECT_EQ(refused("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n").status, 400);
  EXPECT_EQ(parsed(post("Transfer-Encoding: CHUNKED \r\n") + "1\r\na\r\n0\r\n\r\n").body, "a");
}

TEST(RequestParser, NeedsOneHost) {
  EXPECT_THAT(refused("GET / HTTP/1.1\r\n\r\n").body, HasSubstr("0 Host headers, expected one"));
  EXPECT_EQ(refused("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n").status, 400);
  EXPECT_EQ(refused("GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n").status, 400);
  EXPECT_EQ(refused("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nHost: a\r\n\r\n").status, 400)
      << "in a trailer";
}

TEST(RequestParser, TakesATargetWithItsHost) {
  const auto target = [](const std::string& target) {
    const HttpRequest request = parsed("GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n");
    return request.path + "|" + request.query;
  };
  EXPECT_EQ(target("http://x/health"), "/health|");
  EXPECT_EQ(target("HTTPS://x:1/a%20b?c=http://y/"), "/a b|c=http://y/");
  EXPECT_EQ(target("http://x"), "/|");
  EXPECT_EQ(target("http://x?a=/b"), "/|a=/b");
  EXPECT_EQ(target("/http://x/a"), "/http://x/a|");
  EXPECT_EQ(target("http"), "http|");
  EXPECT_EQ(target("https:"), "https:|");
  EXPECT_EQ(target("*"), "*|");
}

TEST(RequestParser, IgnoresEmptyLinesBeforeARequest) {
  for (const size_t piece : {1, 3, 1000})
    EXPECT_EQ(parsed("\r\n\r\nGET /a HTTP/1.1\r\nHost: x\r\n\r\n", piece).path, "/a");
  const HttpLimits limits;
  RequestParser parser(limits);
  std::string lines = "\r\n\r";
  EXPECT_EQ(put(parser, lines), State::empty);
  EXPECT_EQ(lines, "\r");
  EXPECT_EQ(refused("\rGET / HTTP/1.1\r\nHost: x\r\n\r\n").status, 400);
}

TEST(RequestParser, RefusesABodyThatIsCompressed) {
  const HttpResponse refusal = refused(post("Content-Encoding: gzip\r\nContent-Length: 1\r\n") + "a");
  EXPECT_EQ(refusal.status, 415);
  EXPECT_THAT(refusal.headers, testing::ElementsAre(testing::Pair("Accept-Encoding", "identity")));
  EXPECT_EQ(parsed(post("Content-Encoding: Identity\r\nContent-Length: 1\r\n") + "a").body, "a");
  EXPECT_EQ(parsed(post("Content-Encoding: gzip\r\n")).body, "");
}

}  // namespace
}  // namespace dragoman
