#pragma once
#include <string>
#include <utility>
#include <vector>

namespace dragoman {

/// Output that a run could not write. The run continues and saves its model; at the end this is an error, so that a
/// script learns of it.
class Unwritten {
 public:
  /// "--log-json", and what happened; of one output the first failure counts.
  void add(const std::string& output, const std::string& failure);
  /// It was written after all.
  void forget(const std::string& output);
  /// Throws Error that names all of them, if there are any.
  void require_none() const;

 private:
  std::vector<std::pair<std::string, std::string>> failures_;
};

}  // namespace dragoman
