#pragma once
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/html_scanner.h"

namespace dragoman {

/// Whether text before and after the tag is not one sentence: paragraphs, headings, cells, <br>. Unknown elements are
/// inline, as in browsers.
bool is_block(std::string_view element);

/// Whether the element has neither content nor end tag, such as <img>.
bool is_void(std::string_view element);

/// The elements that a position in a page is in, as far as translating needs them: what is translated there. End tags
/// that HTML lets authors leave out, such as </p> and </li>, are known. Any order of tags will do. Cost: constant for a
/// tag, on average.
///
/// Not translated is what `translate="no"` or `class="notranslate"` says, what is no text (<script>, <style>), what
/// programs read or write (<code>, <pre>, <kbd>, <samp>, <var>, <textarea>), how characters are read (<rt>), and what
/// is drawn (<svg>, <math>). `translate="yes"` inside of these holds for blocks only, as the parts of a sentence must
/// stay together.
class OpenElements {
 public:
  /// Returns whether the tag ended <svg> or <math>, in which it may not stand: what follows depends on that it does.
  bool open(const HtmlToken& start_tag);
  void close(const std::string& element);
  bool translated() const { return open_.empty() || open_.back().translated; }
  bool foreign() const { return !open_.empty() && open_.back().foreign; }

 private:
  struct Element {
    std::string name;
    bool block, translated, foreign;
    size_t nearest_block;  // 1 + the position of the innermost block at or around it; 0: none
  };

  void pop();
  void close_implied(std::string_view next);

  std::vector<Element> open_;
  std::unordered_map<std::string, int> count_;  // of open elements, by name
};

}  // namespace dragoman
