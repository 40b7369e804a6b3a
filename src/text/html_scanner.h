#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

struct HtmlAttribute {
  std::string name;        // in lower case
  std::string_view value;  // as written, without quotes
};

/// One token; its bytes are a part of the scanned text.
struct HtmlToken {
  enum class Kind {
    text,       // with references
    raw_text,   // of <script>, <style> and their like
    start_tag,  //
    end_tag,    //
    comment,    // all else that is not text: comments, processing instructions, CDATA, a tag cut off by the end
    doctype,
  };
  Kind kind;
  std::string_view bytes;
  std::string name = {};  // of a tag, in lower case
  std::vector<HtmlAttribute> attributes = {};
  bool self_closing = false;
};

/// Splits HTML into tokens whose concatenation is the text: nothing is lost or repaired. It follows the states of the
/// tokenizer of the HTML standard (section 13.2.5), so that what is markup here is markup in a browser. It is our own
/// because the common libraries (Gumbo, Lexbor, libxml2) build a tree and serialise it again, which moves, adds and
/// drops tags, while a translated page should keep every other byte. Cost: linear.
class HtmlScanner {
 public:
  explicit HtmlScanner(std::string_view html) : html_(html) {}

  /// The next token; none at the end. `foreign`: inside of <svg> or <math>, where <style> and <title> are ordinary.
  std::optional<HtmlToken> next(bool foreign);

 private:
  std::string_view rest() const { return html_.substr(at_); }
  HtmlToken take(HtmlToken::Kind kind, size_t end);
  std::optional<HtmlToken> raw_text();
  HtmlToken tag(bool foreign);
  HtmlToken declaration(bool foreign);
  HtmlToken text();

  std::string_view html_;
  size_t at_ = 0;
  std::string raw_;  // the element whose content is not markup, while inside it
};

}  // namespace dragoman
