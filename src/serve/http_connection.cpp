#include "serve/http_connection.h"

#include <fmt/chrono.h>

#include <boost/asio/write.hpp>
#include <utility>

#include "base/error.h"
#include "base/log.h"

namespace dragoman {
namespace {

namespace asio = boost::asio;
using Code = boost::system::error_code;

constexpr auto probe_interval = std::chrono::seconds(1);
constexpr double draining_seconds_at_stop = 2;

std::string head_of(const HttpRequest& request, int status, std::string_view type, bool keep_alive,
                    std::string_view date) {
  std::string head = fmt::format("HTTP/1.{} {} {}\r\nDate: {}\r\nConnection: {}\r\n", request.http_1_0 ? 0 : 1, status,
                                 reason_of(status), date, keep_alive ? "keep-alive" : "close");
  if (!type.empty()) head += fmt::format("Content-Type: {}\r\n", type);
  return head;
}

}  // namespace

const std::string& Connections::date() {
  if (const std::time_t now = std::time(nullptr); std::exchange(second_, now) != now)
    date_ = fmt::format("{:%a, %d %b %Y %H:%M:%S} GMT", fmt::gmtime(now));
  return date_;
}

/// May outlive the connection, as whoever makes the answer holds it.
class HttpConnection::Answer : public Exchange {
 public:
  Answer(HttpConnection& connection, HttpRequest request)
      : connection_(&connection), request_(std::move(request)), peer_(connection.peer_) {}

  const HttpRequest& request() const override { return request_; }
  std::string peer() const override { return peer_; }
  bool ended() const { return ended_; }

  void respond(HttpResponse response) override {
    if (!connection_ || begun_) return;
    std::string all = head(response.status, response.type, response.headers);
    if (response.status != 204) all += fmt::format("Content-Length: {}\r\n", response.body.size());
    all += "\r\n";
    if (request_.method != "HEAD") all += response.body;
    begun_ = ended_ = true;  // only now: without memory for this answer, another may be given
    connection_->send(std::move(all));
  }

  bool events_begun() const override { return begun_; }
  void begin_events(Headers headers) override {
    if (!connection_ || begun_) return;
    headers.emplace_back("Cache-Control", "no-store");
    headers.emplace_back("X-Accel-Buffering", "no");  // nginx passes events on at once
    if (request_.http_1_0)
      connection_->keep_alive_ = false;
    else
      headers.emplace_back("Transfer-Encoding", "chunked");
    std::string all = head(200, "text/event-stream", headers) + "\r\n";
    begun_ = true;
    connection_->send(std::move(all));
  }

  void send_event(std::string_view name, std::string_view data) override {
    if (!connection_ || ended_) return;
    if (connection_->output_.size() > connection_->all_.limits.output) return connection_->close();
    send_chunk(fmt::format("event: {}\ndata: {}\n\n", name, data));
  }

  void end_events(int) override {
    if (!connection_ || ended_) return;
    ended_ = true;
    connection_->send(request_.http_1_0 ? "" : "0\r\n\r\n");
  }

  void when_abandoned(std::function<void(int)> abandoned) override { abandoned_ = std::move(abandoned); }

  /// Abandons the answer and sends `instead`; if the answer is a stream that has begun, as its last event.
  void give_up(const HttpResponse& instead) {
    if (ended_) return;
    connection_->keep_alive_ = false;
    if (begun_) {
      send_event("error", instead.body);
      end_events(instead.status);
    } else {
      respond(instead);
    }
    notify_abandoned(503);
  }

  /// The connection has ended.
  void leave() {
    connection_ = nullptr;
    if (!ended_) notify_abandoned(499);
    abandoned_ = {};
  }

 private:
  std::string head(int status, std::string_view type, const Headers& headers) {
    connection_->keep_alive_ &= !connection_->all_.stopping;
    Connections& all = connection_->all_;
    std::string head = head_of(request_, status, type, connection_->keep_alive_, all.date());
    for (const auto& some : {std::cref(headers), std::cref(all.headers)})
      for (const auto& [name, value] : some.get()) head += fmt::format("{}: {}\r\n", name, value);
    return head;
  }

  void send_chunk(std::string_view text) {
    if (request_.http_1_0) return connection_->send(std::string(text));
    connection_->send(fmt::format("{:x}\r\n{}\r\n", text.size(), text));
  }

  void notify_abandoned(int status) {
    if (const auto abandoned = std::exchange(abandoned_, {})) abandoned(status);
  }

  HttpConnection* connection_;  // null: it has gone
  const HttpRequest request_;
  const std::string peer_;
  bool begun_ = false, ended_ = false;
  std::function<void(int)> abandoned_;
};

HttpConnection::HttpConnection(Socket socket, Connections& all)
    : socket_(std::move(socket)),
      all_(all),
      deadline_timer_(socket_.get_executor()),
      write_deadline_(socket_.get_executor()),
      probe_(socket_.get_executor()) {
  all_.open.insert(this);
}

HttpConnection::~HttpConnection() {
  try {
    close();
  } catch (...) {  // there is nowhere to report it
  }
}

void HttpConnection::start() {
  Code error;
  socket_.non_blocking(true, error);
  socket_.set_option(asio::ip::tcp::no_delay(true), error);
  const auto end = socket_.remote_endpoint(error);
  if (!error) peer_ = end.address().to_string();
  expect_request();
}

void HttpConnection::stop() {
  if (phase_ == Phase::idle) close();
  if (phase_ == Phase::draining) drain();
}

// A deadline later than the one before leaves the timer as it is, which finds it when it expires: most requests do.
void HttpConnection::set_deadline(double seconds, Late late) {
  late_ = late;
  deadline_ =
      Timer::clock_type::now() + std::chrono::duration_cast<Timer::duration>(std::chrono::duration<double>(seconds));
  if (!waiting_for_deadline_ || deadline_ < deadline_timer_.expiry()) wait_for_deadline();
}

void HttpConnection::wait_for_deadline() {
  waiting_for_deadline_ = true;
  deadline_timer_.expires_at(deadline_);
  deadline_timer_.async_wait([self = shared_from_this()](Code error) {
    if (error || self->phase_ == Phase::closed) return;
    self->waiting_for_deadline_ = false;
    if (self->deadline_ > Timer::clock_type::now()) return self->wait_for_deadline();
    (self.get()->*(self->late_))();
  });
}

void HttpConnection::expect_request() {
  if (all_.stopping) return drain();
  phase_ = Phase::idle;
  if (input_.empty()) input_ = {};  // frees its memory
  parser_.emplace(all_.limits);
  set_deadline(all_.limits.idle_seconds, &HttpConnection::close);
  take_input();
}

void HttpConnection::wait_for_input() {
  if (waiting_for_input_ || input_ended_ || phase_ == Phase::closed) return;
  if (phase_ == Phase::answering && input_.size() >= all_.limits.read_ahead) return expect_reset();
  waiting_for_input_ = true;
  socket_.async_wait(Socket::wait_read, [self = shared_from_this()](Code error) {
    self->waiting_for_input_ = false;
    if (!error && self->phase_ != Phase::closed) self->on_input_or_refuse();
  });
}

// The memory of what came is free again once there is an answer to it. While one is computed, what came after its
// request is lost, and with it the next requests.
void HttpConnection::on_input_or_refuse() {
  try {
    on_input();
  } catch (const std::bad_alloc&) {
    parser_.reset();
    input_ = {};
    if (phase_ == Phase::draining) return close();
    if (!answer_) return refuse(no_memory_response());
    keep_alive_ = false;
    expect_reset();
  }
}

void HttpConnection::on_input() {
  Code error;
  const size_t bytes = socket_.read_some(asio::buffer(all_.scratch), error);
  if (error == asio::error::would_block) return wait_for_input();
  if (error == asio::error::eof) return on_end_of_input();
  if (error) return close();
  if (phase_ == Phase::draining) return wait_for_input();
  input_.append(all_.scratch.data(), bytes);
  if (phase_ == Phase::answering) return wait_for_input();
  take_input();
}

// A peer that has closed only its own direction still reads: programs that pipe a request do so.
void HttpConnection::on_end_of_input() {
  input_ended_ = true;
  if (phase_ != Phase::answering) return close();
  expect_reset();
  probe();
}

// A peer that has closed both directions looks the same until something is sent to it: then its system resets the
// connection. A client accepts any number of interim responses before the answer (RFC 9110, section 15.2).
void HttpConnection::probe() {
  probe_.expires_after(probe_interval);
  probe_.async_wait([self = shared_from_this()](Code error) {
    if (error || self->phase_ != Phase::answering || !self->answer_ || self->answer_->events_begun()) return;
    if (!self->answer_->request().http_1_0) self->send("HTTP/1.1 100 Continue\r\n\r\n");
    self->probe();
  });
}

void HttpConnection::expect_reset() {
  if (std::exchange(waiting_for_reset_, true)) return;
  socket_.async_wait(Socket::wait_error, [self = shared_from_this()](Code error) {
    self->waiting_for_reset_ = false;
    if (!error) self->close();
  });
}

void HttpConnection::take_input() {
  if (input_.empty()) return input_ended_ ? close() : wait_for_input();
  input_.erase(0, parser_->put(input_));
  const bool begins = phase_ == Phase::idle && parser_->state() != RequestParser::State::empty;
  if (begins) phase_ = Phase::header;
  switch (parser_->state()) {
    case RequestParser::State::empty:
      break;
    case RequestParser::State::done:
      return dispatch();
    case RequestParser::State::refused:
      return refuse(parser_->refusal());
    case RequestParser::State::body:
      if (phase_ == Phase::header) {
        phase_ = Phase::body;
        set_deadline(all_.limits.body_seconds, &HttpConnection::refuse_late_request);
        if (parser_->expects_continue()) send("HTTP/1.1 100 Continue\r\n\r\n");
      }
      break;
    case RequestParser::State::header:
      if (begins) set_deadline(all_.limits.header_seconds, &HttpConnection::refuse_late_request);
      break;
  }
  input_ended_ ? close() : wait_for_input();
}

void HttpConnection::dispatch() {
  phase_ = Phase::answering;
  HttpRequest request = parser_->take();
  parser_.reset();
  keep_alive_ = request.keep_alive;
  const auto answer = answer_ = std::make_shared<Answer>(*this, std::move(request));
  set_deadline(all_.limits.request_seconds, &HttpConnection::give_up_answer);
  input_ended_ ? on_end_of_input() : wait_for_input();
  try {
    all_.handler(answer);
  } catch (const Error& error) {
    answer->give_up(error_response(400, error.what()));
  } catch (const std::bad_alloc&) {
    answer->give_up(no_memory_response());
  } catch (const std::exception& error) {
    log_warning("A request failed: {}", error.what());
    answer->give_up(error_response(500, "the server failed to answer this request"));
  }
}

void HttpConnection::refuse(HttpResponse response) {
  phase_ = Phase::answering;
  keep_alive_ = false;
  const auto answer = answer_ =
      std::make_shared<Answer>(*this, HttpRequest());  // lives on if that closes the connection
  if (all_.refused) all_.refused(response.status, answer->peer());
  answer->respond(std::move(response));
}

void HttpConnection::refuse_late_request() {
  refuse(error_response(
      408, phase_ == Phase::body ? "the body did not arrive in time" : "the header did not arrive in time"));
}

void HttpConnection::give_up_answer() {
  if (const auto answer = answer_)  // which lives on if that closes the connection
    answer->give_up(busy_response(503, fmt::format("this took more than {} s", all_.limits.request_seconds)));
}

// Without memory for it, the connection ends: what the peer has got may be a part of an answer.
void HttpConnection::send(std::string bytes) {
  if (phase_ == Phase::closed) return;
  try {
    if (output_.empty())
      output_ = std::move(bytes);
    else
      output_ += bytes;
    if (being_written_.empty()) write();
  } catch (const std::bad_alloc&) {
    close();
  }
}

// What the system takes at once, as most answers, needs no deadline.
void HttpConnection::write() {
  Code not_now;  // what is wrong, async_write finds too
  output_.erase(0, output_.empty() ? 0 : socket_.write_some(asio::buffer(output_), not_now));
  if (output_.empty()) return asio::post(socket_.get_executor(), [self = shared_from_this()] { self->on_sent(); });
  being_written_.swap(output_);
  write_deadline_.expires_after(std::chrono::milliseconds(int64_t(1000 * all_.limits.write_seconds)));
  write_deadline_.async_wait([self = shared_from_this()](Code error) {
    if (!error && self->write_deadline_.expiry() <= Timer::clock_type::now()) self->close();
  });
  asio::async_write(socket_, asio::buffer(being_written_), [self = shared_from_this()](Code error, size_t) {
    self->being_written_ = {};
    self->write_deadline_.cancel();
    error ? self->close() : self->on_sent();
  });
}

void HttpConnection::on_sent() {
  if (phase_ == Phase::closed || !being_written_.empty()) return;
  if (!output_.empty()) return send("");
  if (answer_ && answer_->ended()) answered();
}

void HttpConnection::answered() {
  answer_->leave();
  answer_.reset();
  if (keep_alive_) return expect_request();
  drain();
}

// Closing with unread input would reset the connection, and the peer might lose the answer. A peer that is sending a
// body may send all of it before it reads.
void HttpConnection::drain() {
  if (input_ended_) return close();
  phase_ = Phase::draining;
  input_ = {};
  Code error;
  socket_.shutdown(Socket::shutdown_send, error);
  set_deadline(all_.stopping ? draining_seconds_at_stop : all_.limits.body_seconds, &HttpConnection::close);
  wait_for_input();
}

void HttpConnection::close() {
  if (std::exchange(phase_, Phase::closed) == Phase::closed) return;
  Code error;
  socket_.close(error);
  deadline_timer_.cancel();
  write_deadline_.cancel();
  probe_.cancel();
  if (const auto answer = std::exchange(answer_, nullptr)) answer->leave();
  all_.open.erase(this);
  if (all_.open.empty() && all_.on_last_closed) all_.on_last_closed();
}

}  // namespace dragoman
