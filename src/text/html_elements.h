#pragma once
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/html_scanner.h"

namespace dragoman {

/// Whether text before and after the tag belongs to different sentences: paragraphs, headings, cells, <br>. Unknown
/// elements are inline, as in browsers.
bool is_block(std::string_view element);

/// Whether the element has neither content nor end tag, such as <img>.
bool is_void(std::string_view element);

/// The open elements at a position in a page, as far as they decide what is translated there. Infers the end tags that
/// HTML lets authors omit, such as </p> and </li>. Accepts tags in any order. Cost: constant per tag,
/// on average.
///
/// Not translated are elements with `translate="no"` or `class="notranslate"`, elements that are not text (<script>,
/// <style>), computer input or output (<code>, <pre>, <kbd>, <samp>, <var>, <textarea>), pronunciations of characters
/// (<rt>), and drawings (<svg>, <math>). `translate="yes"` inside these applies to blocks only, as the parts of a
/// sentence must stay together.
class OpenElements {
 public:
  /// Returns whether the tag ended <svg> or <math>, in which it is not allowed: the parser's state depends on it.
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
