#include "serve/metrics.h"

#include <fmt/format.h>

#include <algorithm>

namespace dragoman {
namespace {

std::string one_value(const char* name, const char* type, const char* help, int64_t value) {
  return fmt::format("# HELP {0} {2}\n# TYPE {0} {1}\n{0} {3}\n", name, type, help, value);
}

}  // namespace

void Histogram::observe(double value) {
  ++counts_[size_t(std::ranges::lower_bound(bounds_, value) - bounds_.begin())];
  sum_ += value;
}

std::string Histogram::to_text(const std::string& name, const std::string& help) const {
  std::string text = fmt::format("# HELP {0} {1}\n# TYPE {0} histogram\n", name, help);
  int64_t below = 0;
  for (size_t i = 0; i < bounds_.size(); ++i)
    text += fmt::format("{}_bucket{{le=\"{}\"}} {}\n", name, bounds_[i], below += counts_[i]);
  below += counts_.back();
  return text + fmt::format("{0}_bucket{{le=\"+Inf\"}} {1}\n{0}_sum {2}\n{0}_count {1}\n", name, below, sum_);
}

void Metrics::count_request(const std::string& route, int status, double seconds) {
  const std::lock_guard lock(mutex_);
  ++requests_[{route, status}];
  seconds_.observe(seconds);
}

void Metrics::count_characters(int64_t characters) {
  const std::lock_guard lock(mutex_);
  characters_ += characters;
}

void Metrics::count_sentence(int target_tokens) {
  const std::lock_guard lock(mutex_);
  ++sentences_;
  target_tokens_ += target_tokens;
}

void Metrics::observe_batch(size_t sentences) {
  const std::lock_guard lock(mutex_);
  batches_.observe(double(sentences));
}

void Metrics::add_in_flight(int requests) {
  const std::lock_guard lock(mutex_);
  in_flight_ += requests;
}

void Metrics::add_waiting(int64_t sentences) {
  const std::lock_guard lock(mutex_);
  waiting_ += sentences;
}

std::string Metrics::to_text(int connections) const {
  const std::lock_guard lock(mutex_);
  std::string text =
      "# HELP dragoman_requests_total Requests that have ended.\n# TYPE dragoman_requests_total counter\n";
  for (const auto& [key, count] : requests_)
    text += fmt::format("dragoman_requests_total{{route=\"{}\",status=\"{}\"}} {}\n", key.first, key.second, count);
  text += seconds_.to_text("dragoman_request_seconds", "Time from a whole request to its whole answer.");
  text += one_value("dragoman_requests_in_flight", "gauge", "Requests that are being answered.", in_flight_);
  text += one_value("dragoman_connections", "gauge", "Open connections.", connections);
  text += one_value("dragoman_sentences_waiting", "gauge", "Sentences that wait for the search.", waiting_);
  text += batches_.to_text("dragoman_batch_sentences", "Sentences that a step of a search translates together.");
  text += one_value("dragoman_sentences_total", "counter", "Sentences translated.", sentences_);
  text += one_value("dragoman_target_tokens_total", "counter", "Tokens of translations.", target_tokens_);
  text += one_value("dragoman_characters_total", "counter", "Characters of texts to translate.", characters_);
  return text;
}

}  // namespace dragoman
