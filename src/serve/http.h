#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dragoman {

using Headers = std::vector<std::pair<std::string, std::string>>;

/// A whole request. Nothing in it is trusted.
struct HttpRequest {
  std::string method, path, query;  // "POST", "/translate" (decoded), what follows '?' (not decoded)
  Headers headers;                  // names in lower case
  std::string body;
  bool keep_alive = true;
  bool http_1_0 = false;  // the client does not support chunks

  std::string_view header(std::string_view name) const;  // in lower case; empty: there is none
};

struct HttpResponse {
  int status = 200;
  std::string type = "application/json";
  std::string body;
  Headers headers = {};
};

/// An error as the client sees it, in LibreTranslate's form: {"error": message}.
HttpResponse error_response(int status, std::string_view message, Headers headers = {});
/// The same for an error that may not occur later.
HttpResponse busy_response(int status, std::string_view message);
HttpResponse no_memory_response();

/// The answer to one request: respond() once, or begin_events(), send_event() as often as wanted, and end_events().
/// Used on the server's thread only. If the peer has gone or the time for the request is up, they do nothing.
class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual const HttpRequest& request() const = 0;
  virtual std::string peer() const = 0;  // address of the client

  virtual void respond(HttpResponse response) = 0;
  virtual void begin_events(Headers headers) = 0;  // server-sent events (WHATWG HTML, section 9.2)
  virtual void send_event(std::string_view name, std::string_view data) = 0;  // `data` is one line
  virtual bool events_begun() const = 0;                                      // also after respond()
  virtual void end_events(int status) = 0;  // what the request counts as: 200, or the status of its failure

  /// `abandoned` is called once if nobody waits for the answer any more: with 499 if the peer has gone, with 503 if the
  /// time is up.
  virtual void when_abandoned(std::function<void(int status)> abandoned) = 0;
};

/// "%41+b" → "A b"; an invalid escape stands for itself.
std::string decode_percent(std::string_view text, bool plus_is_blank);

/// "OK", "Not Found".
std::string_view reason_of(int status);

}  // namespace dragoman
