#pragma once
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <ctime>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "serve/http.h"
#include "serve/limits.h"
#include "serve/request_parser.h"

namespace dragoman {

class HttpConnection;

/// What all connections of a server share. One thread uses it.
struct Connections {
  HttpLimits limits;
  Headers headers;  // of every answer
  std::function<void(std::shared_ptr<Exchange>)> handler;
  std::function<void(int status, const std::string& peer)> refused;  // may be null
  bool stopping = false;
  std::unordered_set<HttpConnection*> open;
  std::vector<char> scratch = std::vector<char>(64 << 10);  // buffer for reading, so that an idle connection needs none
  std::function<void()> on_last_closed;

  /// Now, as a header has it; made once a second.
  const std::string& date();

 private:
  std::time_t second_ = -1;
  std::string date_;
};

/// A connection of a client: reads requests, has them answered one after another in order, and writes the answers. It
/// also reads while an answer is made, to notice when the peer has gone. It lives as long as something is pending.
class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  using Socket = boost::asio::ip::tcp::socket;
  using Timer = boost::asio::steady_timer;

  HttpConnection(Socket socket, Connections& all);
  ~HttpConnection();
  HttpConnection(const HttpConnection&) = delete;

  void start();
  /// Closes the connection, after the answer if one is being made.
  void stop();
  void close();

 private:
  class Answer;
  enum class Phase { idle, header, body, answering, draining, closed };

  void expect_request();
  void wait_for_input();
  void on_input();
  void on_input_or_refuse();
  void take_input();
  void on_end_of_input();
  void expect_reset();
  void probe();
  void dispatch();
  void refuse(HttpResponse response);
  void refuse_late_request();
  void give_up_answer();
  void send(std::string bytes);
  void write();
  void on_sent();
  void answered();
  void drain();
  using Late = void (HttpConnection::*)();
  void set_deadline(double seconds, Late late);
  void wait_for_deadline();

  Socket socket_;
  Connections& all_;
  std::string peer_;  // its address
  Timer deadline_timer_, write_deadline_, probe_;
  Timer::time_point deadline_;
  Late late_ = nullptr;  // what is done at the deadline
  bool waiting_for_deadline_ = false;
  Phase phase_ = Phase::idle;
  std::optional<RequestParser> parser_;
  std::string input_;  // read and not yet taken
  bool waiting_for_input_ = false, waiting_for_reset_ = false, input_ended_ = false;
  bool keep_alive_ = true;
  std::string output_, being_written_;
  std::shared_ptr<Answer> answer_;  // being made
};

}  // namespace dragoman
