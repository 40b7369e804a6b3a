#include <csignal>
#include <limits>
#include <optional>

#include "base/log.h"
#include "cli/commands.h"
#include "cli/serve_options.h"
#include "serve/allowed_origin.h"
#include "serve/http_server.h"
#include "serve/service.h"

namespace dragoman {
namespace {

HttpLimits limits_of(const ServeOptions& options) {
  HttpLimits limits;
  limits.body = options.max_body.bytes > 0 ? uint64_t(options.max_body.bytes) : std::numeric_limits<uint64_t>::max();
  limits.request_seconds = options.timeout;
  return limits;
}

}  // namespace

int serve_command(Engine& engine, const ServeCommandOptions& options) {
  HttpServer server(options.host, options.port, limits_of(options));  // a port in use is reported before models load
  std::optional<Service> service;
  // A signal that comes while models load has its effect after that. The service logs the outcome.
  server.on_signals({SIGHUP}, [&] { service->reload([](const std::string&) {}); });
  service.emplace(
      engine, options, [&](std::function<void()> f) { server.post(std::move(f)); },
      [&] { return server.connections(); });
  server.on_signals({SIGINT, SIGTERM}, [&] { server.stop(); });
  server.add_headers(headers_that_allow(options.allow_origin));
  server.on_refused([&](int status, const std::string& peer) { service->count_refused(status, peer); });
  const bool is_ipv6 = options.host.find(':') != std::string::npos;
  log_info("Listening on http://{}:{}", is_ipv6 ? fmt::format("[{}]", options.host) : options.host, server.port());
  server.run([&](std::shared_ptr<Exchange> exchange) { service->handle(std::move(exchange)); });
  log_info("Stopped");
  return 0;
}

}  // namespace dragoman
