#pragma once
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace dragoman {

/// A histogram of values: how many fell below each of some bounds.
class Histogram {
 public:
  explicit Histogram(std::vector<double> bounds) : bounds_(std::move(bounds)), counts_(bounds_.size() + 1) {}
  void observe(double value);
  /// As lines of Prometheus's text format.
  std::string to_text(const std::string& name, const std::string& help) const;

 private:
  std::vector<double> bounds_;   // ascending
  std::vector<int64_t> counts_;  // below each bound, not cumulative; the last: above all
  double sum_ = 0;
};

/// Counters of the server, for Prometheus. Any thread may call.
class Metrics {
 public:
  void count_request(const std::string& route, int status, double seconds);
  void count_characters(int64_t characters);
  void count_sentence(int target_tokens);
  void observe_batch(size_t sentences);  // in a step of a search
  void add_in_flight(int requests);      // -1: one less
  void add_waiting(int64_t sentences);   // for a search that has room
  /// The page in Prometheus's text format, version 0.0.4.
  std::string to_text(int connections) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, int64_t> requests_;
  int64_t characters_ = 0, sentences_ = 0, target_tokens_ = 0, in_flight_ = 0, waiting_ = 0;
  Histogram seconds_{{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60}};
  Histogram batches_{{1, 2, 4, 8, 16, 32, 64, 128, 256}};
};

}  // namespace dragoman
