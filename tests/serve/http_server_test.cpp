#include "serve/http_server.h"

#include <gmock/gmock.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <future>
#include <thread>

#include "base/clock.h"
#include "base/error.h"
#include "tests/error_of.h"
#include "tests/failing_memory.h"

namespace dragoman {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// A client that sends and reads bytes as they are told.
class Client {
 public:
  explicit Client(int port) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{.sin_family = AF_INET, .sin_port = htons(uint16_t(port)), .sin_addr = {}, .sin_zero = {}};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
      throw std::runtime_error("connect");
  }
  ~Client() { close(socket_); }
  Client(const Client&) = delete;

  bool send(std::string_view bytes) const {
    return ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL) == ssize_t(bytes.size());
  }
  /// All that comes until the server closes.
  std::string rest() const {
    std::string all;
    char bytes[4096];
    for (ssize_t n = 0; (n = recv(socket_, bytes, sizeof bytes, 0)) > 0;) all.append(bytes, size_t(n));
    return all;
  }
  bool has_answer() const {
    pollfd end{socket_, POLLIN, 0};
    return poll(&end, 1, 0) == 1;
  }

 private:
  int socket_;
};

/// A server in a thread of its own, with limits that a test need not wait for.
class Running {
 public:
  explicit Running(HttpServer::Handler handler, HttpLimits limits = brief(), Headers headers = {})
      : server("127.0.0.1", 0, limits),
        thread_([this, handler = std::move(handler), headers = std::move(headers)]() mutable {
          server.add_headers(std::move(headers));
          server.run(handler);
        }) {}
  ~Running() {
    server.stop();
    thread_.join();
  }
  static HttpLimits brief() {
    HttpLimits limits;
    limits.header_seconds = limits.body_seconds = limits.idle_seconds = 0.2;
    limits.write_seconds = limits.request_seconds = 0.5;
    limits.stopping_seconds = 0.1;
    return limits;
  }

  HttpServer server;

 private:
  std::thread thread_;
};

void say_path(const std::shared_ptr<Exchange>& exchange) {
  exchange->respond({.type = "text/plain", .body = exchange->request().path + exchange->request().body});
}

// A timer for each read would never end these.
TEST(HttpServer, GivesAWholeHeaderOneDeadlineAndAWholeBodyAnother) {
  const Running running(say_path);
  for (const std::string begin : {"GET /", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n"}) {
    const Client slow(running.server.port());
    ASSERT_TRUE(slow.send(begin));
    while (!slow.has_answer() && slow.send("a")) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_THAT(slow.rest(), StartsWith("HTTP/1.1 408 "));
  }
}

// Else a client could make the server keep any number of bytes.
TEST(HttpServer, RefusesALineOfAChunkThatDoesNotEnd) {
  const Running running(say_path, {});
  const Client client(running.server.port());
  client.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1;a=");
  for (int i = 0; i < 8 && !client.has_answer(); ++i) {
    client.send(std::string(10'000, 'a'));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_THAT(client.rest(), StartsWith("HTTP/1.1 431 "));
}

// Had the server closed the connection, the client's system would have forgotten the answer.
TEST(HttpServer, KeepsTheAnswerForAClientThatFirstSendsTheWholeBody) {
  HttpLimits limits;
  limits.body = 10;
  const Running running(say_path, limits);
  const Client slow(running.server.port());
  ASSERT_TRUE(slow.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n"));
  for (int i = 0; i < 25; ++i) {
    EXPECT_TRUE(slow.send(std::string(40'000, 'a')));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_THAT(slow.rest(), StartsWith("HTTP/1.1 413 "));
}

TEST(HttpServer, ClosesWhatIsIdle) {
  const Running running(say_path);
  const Client fresh(running.server.port()), used(running.server.port());
  used.send("GET /a HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(fresh.rest(), "");
  EXPECT_THAT(used.rest(), StartsWith("HTTP/1.1 200 OK\r\n"));
}

// Old browsers send one after a body.
TEST(HttpServer, IsStillIdleAfterAnEmptyLine) {
  const Running running(say_path);
  const Client client(running.server.port());
  client.send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nb\r\n");
  EXPECT_THAT(client.rest(), testing::EndsWith("\r\n\r\n/ab"));
}

TEST(HttpServer, ClosesWhatDoesNotReadItsAnswer) {
  constexpr size_t answer = 64 << 20;
  std::atomic<int> answered = 0;
  Running running([&](const std::shared_ptr<Exchange>& exchange) {
    exchange->respond({.body = std::string(answer, 'x')});
    ++answered;
  });
  const Client deaf(running.server.port());
  deaf.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  while (answered == 0) std::this_thread::yield();
  const auto connections = [&] {
    std::promise<int> number;
    running.server.post([&] { number.set_value(running.server.connections()); });
    return number.get_future().get();
  };
  const Clock clock;  // brief() gives it 0.5 s
  while (connections() > 0 && clock.seconds() < 20) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  ASSERT_EQ(connections(), 0);
  EXPECT_LT(deaf.rest().size(), answer) << "what the system kept, and then the end";
}

TEST(HttpServer, GivesUpARequestWhoseTimeIsUp) {
  std::promise<int> abandoned;
  std::shared_ptr<Exchange> late;
  const Running running([&](const std::shared_ptr<Exchange>& exchange) {
    exchange->when_abandoned([&](int status) { abandoned.set_value(status); });
    late = exchange;
  });
  const Client client(running.server.port());
  client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  const std::string answer = client.rest();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(answer, HasSubstr("Retry-After: 1\r\n"));
  EXPECT_EQ(abandoned.get_future().get(), 503);
}

TEST(HttpServer, EndsAStreamWhoseTimeIsUpWithAnError) {
  std::promise<int> abandoned;
  std::shared_ptr<Exchange> late;
  const Running running([&](const std::shared_ptr<Exchange>& exchange) {
    exchange->when_abandoned([&](int status) { abandoned.set_value(status); });
    exchange->begin_events({});
    exchange->send_event("part", "{}");
    late = exchange;
  });
  const Client client(running.server.port());
  client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  const std::string answer = client.rest();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(answer, HasSubstr("event: error\ndata: {\"error\":\"this took more than 0.5 s\"}\n\n"));
  EXPECT_THAT(answer, testing::EndsWith("\r\n0\r\n\r\n"));
  EXPECT_EQ(abandoned.get_future().get(), 503);
}

TEST(HttpServer, NotifiesAHandlerThatItsClientHasGone) {
  std::promise<int> abandoned;
  std::atomic<int> asked = 0;
  std::shared_ptr<Exchange> kept;
  HttpLimits limits;
  const Running running(
      [&](const std::shared_ptr<Exchange>& exchange) {
        exchange->when_abandoned([&](int status) { abandoned.set_value(status); });
        kept = exchange;
        ++asked;
      },
      limits);
  {
    const Client client(running.server.port());
    client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    while (asked == 0) std::this_thread::yield();
  }
  EXPECT_EQ(abandoned.get_future().get(), 499);
}

TEST(HttpServer, StreamsEventsInChunks) {
  const Running running([](const std::shared_ptr<Exchange>& exchange) {
    exchange->begin_events({{"X-Thing", "1"}});
    exchange->send_event("part", "{}");
    exchange->send_event("done", "[1]");
    exchange->end_events(200);
    exchange->send_event("late", "{}");
    exchange->respond({.body = "late"});
  });
  const Client client(running.server.port()), old(running.server.port());
  client.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  old.send("GET / HTTP/1.0\r\n\r\n");
  const std::string chunks = client.rest(), plain = old.rest();
  EXPECT_THAT(chunks, HasSubstr("X-Thing: 1\r\n"));
  EXPECT_THAT(chunks,
              testing::EndsWith("\r\n\r\n16\r\nevent: part\ndata: {}\n\n\r\n17\r\nevent: done\ndata: [1]\n\n\r\n"
                                "0\r\n\r\n"));
  EXPECT_THAT(plain, testing::EndsWith("\r\n\r\nevent: part\ndata: {}\n\nevent: done\ndata: [1]\n\n"));
}

TEST(HttpServer, AnswersWithAnErrorWhatAHandlerThrows) {
  const Running running([](const std::shared_ptr<Exchange>& exchange) {
    if (exchange->request().path == "/memory") throw std::bad_alloc();
    if (exchange->request().path == "/error") throw Error("what is wrong");
    throw std::runtime_error("a secret");
  });
  const auto answer = [&](const std::string& path) {
    const Client client(running.server.port());
    client.send("GET " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    return client.rest();
  };
  EXPECT_THAT(answer("/memory"), StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(answer("/error"), HasSubstr("what is wrong"));
  EXPECT_THAT(answer("/bug"), testing::AllOf(StartsWith("HTTP/1.1 500 "), testing::Not(HasSubstr("secret"))));
}

// A browser hides an answer without them from the page that asked.
TEST(HttpServer, GivesItsHeadersToEveryAnswer) {
  HttpLimits limits = Running::brief();
  limits.body = 10;
  std::vector<std::shared_ptr<Exchange>> never_answered;
  const Running running(
      [&](const std::shared_ptr<Exchange>& exchange) {
        if (exchange->request().path == "/late") return never_answered.push_back(exchange);
        if (exchange->request().path == "/error") throw Error("what is wrong");
        if (exchange->request().path == "/stream") {
          exchange->begin_events({});
          return exchange->end_events(200);
        }
        say_path(exchange);
      },
      limits, {{"X-Of-All", "1"}});
  const std::string host = " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n", end = "\r\n";
  for (const auto& [status, request] : {std::pair<std::string, std::string>{"200", "GET /a" + host + end},
                                        {"200", "GET /stream" + host + end},
                                        {"400", "GET /error" + host + end},
                                        {"400", "hello\r\n\r\n"},
                                        {"408", "POST /a" + host + "Content-Length: 5\r\n\r\na"},
                                        {"408", "GET /a"},
                                        {"413", "POST /a" + host + "Content-Length: 11\r\n\r\n"},
                                        {"431", "GET /a" + host + "A: " + std::string(20'000, 'a') + end + end},
                                        {"503", "GET /late" + host + end}}) {
    const Client client(running.server.port());
    client.send(request);
    const std::string answer = client.rest();
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 " + status));
    EXPECT_THAT(answer, HasSubstr("\r\nX-Of-All: 1\r\n")) << request.substr(0, 50);
  }
}

// An answer is whole, or another one takes its place, or the connection ends.
TEST(HttpServer, AnswersOnceWhereverMemoryEnds) {
  constexpr size_t bytes = 1 << 20;
  int lost = 0;
  for (int n = 1; n <= 20; ++n) {
    const Running running([n](const std::shared_ptr<Exchange>& exchange) {
      HttpResponse large{.body = std::string(bytes, 'x')};
      try {
        const FailingMemory memory(n, FailingMemory::Fails::once, FailingMemory::In::this_thread);
        exchange->respond(std::move(large));
      } catch (const std::bad_alloc&) {
        if (!exchange->events_begun()) exchange->respond(no_memory_response());
      }
    });
    const Client client(running.server.port());
    client.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    const std::string answer = client.rest();
    lost += !answer.starts_with("HTTP/1.1 200 ");
    const bool whole = answer.starts_with("HTTP/1.1 200 ") && answer.size() > bytes;
    EXPECT_TRUE(whole || answer.empty() || answer.starts_with("HTTP/1.1 503 ")) << n << ": " << answer.substr(0, 100);
  }
  EXPECT_GT(lost, 0);
}

// Its body might be taken for the next request.
TEST(HttpServer, ClosesAfterATransferCodingThatItDoesNotKnow) {
  const Running running(say_path);
  for (const std::string coding : {"gzip", "xchunked", "gzip, chunked"}) {
    const Client client(running.server.port());
    client.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: " + coding +
                "\r\n\r\nGET /a HTTP/1.1\r\nHost: x\r\n\r\n");
    const std::string answer = client.rest();
    EXPECT_THAT(answer, HasSubstr("\r\nConnection: close\r\n"));
    EXPECT_EQ(answer.rfind("HTTP/1.1 "), 0u) << answer;
  }
}

TEST(HttpServer, KeepsServingWhenWhatASignalStartsFails) {
  HttpServer server("127.0.0.1", 0, {});
  int signals = 0;
  server.on_signals({SIGUSR1}, [&] {
    if (++signals == 2) return server.stop();
    raise(SIGUSR1);
    throw Error("the first time");
  });
  raise(SIGUSR1);
  server.run(say_path);
  EXPECT_EQ(signals, 2);
}

TEST(HttpServer, AnswersHeadWithoutABody) {
  const Running running(say_path);
  const Client client(running.server.port());
  client.send("HEAD /abc HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(client.rest(), testing::AllOf(HasSubstr("Content-Length: 4\r\n"), testing::EndsWith("\r\n\r\n")));
}

std::string hint_of(const std::string& host, int port) {
  return thrown_by([&] { const HttpServer server(host, port, {}); }).hint();
}

TEST(HttpServer, ListensOnAPortOnce) {
  const HttpServer first("127.0.0.1", 0, {});
  EXPECT_THAT(hint_of("127.0.0.1", first.port()), HasSubstr("another --port may be free"));
}

TEST(HttpServer, ListensOnAddressesOfThisMachine) {
  EXPECT_THAT(hint_of("192.0.2.1", 0), StartsWith("--host must be an address of this machine"));  // RFC 5737
}

TEST(HttpServer, NeedsPrivilegesForLowPorts) {
  int first_of_all = 1024;  // that all users may use
  std::ifstream("/proc/sys/net/ipv4/ip_unprivileged_port_start") >> first_of_all;
  if (first_of_all <= 1) GTEST_SKIP() << "any user may use any port";
  std::string hint;
  std::thread([&] {
    syscall(SYS_setresuid, -1, 65534, -1);  // takes root's privileges from this thread alone
    hint = hint_of("127.0.0.1", 1);
  }).join();
  EXPECT_THAT(hint, StartsWith("ports below 1024 need privileges"));
}

}  // namespace
}  // namespace dragoman
