#pragma once
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>

#include "serve/http.h"
#include "serve/limits.h"

namespace dragoman {

/// An HTTP/1.1 server: one thread, which calls run(), serves all connections.
class HttpServer {
 public:
  /// Called on the server's thread for each request; must not block. What it throws is answered with an error.
  using Handler = std::function<void(std::shared_ptr<Exchange>)>;

  /// Starts to listen. Error if that fails, as when another program uses the port. `port` 0: the system chooses one.
  /// Raises the limit of open files as far as the process may.
  HttpServer(const std::string& host, int port, const HttpLimits& limits);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;

  int port() const;
  int connections() const;  // on the server's thread

  /// Serves until stop(). Then it accepts no more requests, answers those that have arrived, and returns when all is
  /// sent or HttpLimits::stopping_seconds are over.
  void run(Handler handler);
  /// Calls `refused` for input that never becomes a request: not HTTP, too large or too slow.
  void on_refused(std::function<void(int status, const std::string& peer)> refused);
  /// Further headers of every answer, the server's own errors included. To be called before run().
  void add_headers(Headers headers);
  void stop();  // from any thread

  /// Calls f on the server's thread, soon. From any thread.
  void post(std::function<void()> f);
  /// Calls f on the server's thread whenever the process gets one of these signals. Signals that were ignored when the
  /// process started stay ignored. run() should be called by the process's first thread: it receives them.
  void on_signals(std::initializer_list<int> signals, std::function<void()> f);

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace dragoman
