#include "serve/http_server.h"

#include <sys/resource.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <csignal>
#include <deque>

#include "base/error.h"
#include "base/log.h"
#include "serve/http_connection.h"

namespace dragoman {
namespace {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;
using Code = boost::system::error_code;

constexpr auto pause_before_accepting = std::chrono::milliseconds(100);  // some connection may end meanwhile

void raise_limit_of_open_files() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

bool is_ignored(int signal) {
  struct sigaction action = {};
  sigaction(signal, nullptr, &action);
  return action.sa_handler == SIG_IGN;
}

const char* hint_after(Code error) {
  if (error == asio::error::address_in_use) return "another --port may be free; 0 lets the system choose one";
  if (error == boost::system::errc::address_not_available)
    return "--host must be an address of this machine: 127.0.0.1 is this machine alone, 0.0.0.0 all its addresses";
  if (error == asio::error::access_denied) return "ports below 1024 need privileges; a higher --port needs none";
  return "another --host or --port may be possible";
}

}  // namespace

struct HttpServer::State {
  explicit State(const HttpLimits& limits) { connections.limits = limits; }

  void listen(const std::string& host, int port);
  void accept();
  void on_accepted(Code error, tcp::socket socket);
  void wait_for(asio::signal_set& signals, const std::function<void()>& f);
  void stop();

  Connections connections;
  asio::io_context io{1};
  tcp::acceptor acceptor{io};
  asio::steady_timer pause{io}, grace{io};
  std::deque<asio::signal_set> signals;
  bool warned = false;
};

void HttpServer::State::listen(const std::string& host, int port) {
  if (host.empty())  // to the resolver that is all addresses
    throw Error("--host is empty, expected an address", "127.0.0.1 is this machine alone, 0.0.0.0 all its addresses");
  Code error;
  const auto found = tcp::resolver(io).resolve(host, std::to_string(port), tcp::resolver::passive, error);
  if (error) throw Error(fmt::format("--host {}: {}", host, error.message()), "127.0.0.1 is this machine alone");
  const tcp::endpoint end = *found.begin();
  acceptor.open(end.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(end, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error)
    throw Error(fmt::format("cannot listen on {}, port {}: {}", host, port, error.message()), hint_after(error));
}

void HttpServer::State::accept() {
  acceptor.async_accept([this](Code error, tcp::socket socket) { on_accepted(error, std::move(socket)); });
}

// If no more files can be opened, new connections keep waiting; without memory for a connection, this one ends.
void HttpServer::State::on_accepted(Code error, tcp::socket socket) {
  if (!acceptor.is_open()) return;
  if (!error) {
    try {
      std::make_shared<HttpConnection>(std::move(socket), connections)->start();
      return accept();
    } catch (const std::bad_alloc&) {
      error = asio::error::no_memory;
    }
  }
  if (error == boost::system::errc::connection_aborted) return accept();
  if (!std::exchange(warned, true)) log_warning("No more connections can be accepted now: {}", error.message());
  pause.expires_after(pause_before_accepting);
  pause.async_wait([this](Code stopped) {
    if (!stopped) accept();
  });
}

void HttpServer::State::wait_for(asio::signal_set& set, const std::function<void()>& f) {
  set.async_wait([this, &set, f](Code error, int) {
    if (error) return;
    wait_for(set, f);  // first, as f may throw
    f();
  });
}

void HttpServer::State::stop() {
  if (std::exchange(connections.stopping, true)) return;
  Code error;
  acceptor.close(error);
  pause.cancel();
  connections.on_last_closed = [this] { io.stop(); };
  if (connections.open.empty()) return io.stop();
  const std::vector<HttpConnection*> open(connections.open.begin(), connections.open.end());
  for (HttpConnection* connection : open) connection->stop();
  grace.expires_after(std::chrono::milliseconds(int64_t(1000 * connections.limits.stopping_seconds)));
  grace.async_wait([this](Code cancelled) {
    if (!cancelled) io.stop();
  });
}

HttpServer::HttpServer(const std::string& host, int port, const HttpLimits& limits)
    : state_(std::make_unique<State>(limits)) {
  raise_limit_of_open_files();
  state_->listen(host, port);
}

HttpServer::~HttpServer() { state_->connections.on_last_closed = {}; }

int HttpServer::port() const { return state_->acceptor.local_endpoint().port(); }
int HttpServer::connections() const { return int(state_->connections.open.size()); }

void HttpServer::run(Handler handler) {
  state_->connections.handler = std::move(handler);
  state_->accept();
  const auto work = asio::make_work_guard(state_->io);
  while (!state_->io.stopped()) {
    try {
      state_->io.run();
    } catch (const std::exception& error) {  // no memory to begin something with
      log_warning("The server continues after an error: {}", error.what());
    }
  }
  const std::vector<HttpConnection*> open(state_->connections.open.begin(), state_->connections.open.end());
  state_->connections.on_last_closed = {};
  for (HttpConnection* connection : open) connection->close();
}

void HttpServer::stop() {
  asio::post(state_->io, [this] { state_->stop(); });
}

void HttpServer::on_refused(std::function<void(int, const std::string&)> refused) {
  state_->connections.refused = std::move(refused);
}

void HttpServer::add_headers(Headers headers) { state_->connections.headers = std::move(headers); }

void HttpServer::post(std::function<void()> f) { asio::post(state_->io, std::move(f)); }

void HttpServer::on_signals(std::initializer_list<int> signals, std::function<void()> f) {
  auto& set = state_->signals.emplace_back(state_->io);
  for (const int signal : signals)
    if (!is_ignored(signal)) set.add(signal);
  state_->wait_for(set, f);
}

}  // namespace dragoman
