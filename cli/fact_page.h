#pragma once
#include <string>
#include <utility>
#include <vector>

namespace dragoman {

/// A text page with a title and headings; the facts under them have their values aligned in one column.
class FactPage {
 public:
  explicit FactPage(std::string title) : title_(std::move(title)) {}

  void heading(std::string text) { rows_.push_back({"", std::move(text)}); }
  void fact(std::string label, std::string value) { rows_.push_back({std::move(label), std::move(value)}); }
  std::string text() const;

 private:
  struct Row {
    std::string label, value;  // a heading has no label
  };
  std::string title_;
  std::vector<Row> rows_;
};

/// "8.6 MiB (9,012,345 bytes)"
std::string exact_size(int64_t bytes);

}  // namespace dragoman
