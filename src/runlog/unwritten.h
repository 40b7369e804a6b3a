#pragma once
#include <string>
#include <utility>
#include <vector>

namespace dragoman {

/// Output that a run could not write. The run continues and saves its model; at the end this is an error, so that a
/// script learns of it.
class Unwritten {
 public:
  /// `output` is an option, such as "--log-json". Only the first failure of an output is kept.
  void add(const std::string& output, const std::string& failure);
  /// Removes an output that has been written after all.
  void forget(const std::string& output);
  /// Throws Error, naming all unwritten outputs, if there are any.
  void require_none() const;

 private:
  std::vector<std::pair<std::string, std::string>> failures_;
};

}  // namespace dragoman
