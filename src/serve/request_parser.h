#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "serve/http.h"
#include "serve/limits.h"

namespace dragoman {

/// Parses one HTTP/1 request from bytes as they arrive; bodies may be chunked. Empty lines before it are ignored.
class RequestParser {
 public:
  enum class State { empty, header, body, done, refused };  // empty: at most such lines have come

  explicit RequestParser(const HttpLimits& limits);
  ~RequestParser();
  RequestParser(const RequestParser&) = delete;

  /// Takes bytes from the front of `input`; returns how many. Pass the rest again, with more bytes; after the end it
  /// belongs to the next request.
  size_t put(std::string_view input);
  State state() const { return state_; }
  bool expects_continue() const;                            // the client waits for 100 before it sends the body
  const HttpResponse& refusal() const { return refusal_; }  // State::refused
  HttpRequest take();                                       // State::done

 private:
  size_t parse(std::string_view input);

  struct Beast;
  const std::unique_ptr<Beast> beast_;
  State state_ = State::empty;
  HttpResponse refusal_;
};

}  // namespace dragoman
