#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_range.h"

namespace dragoman {

/// A tag inside a sentence, or other content that is not text.
struct Marker {
  enum class Kind {
    open,   // begins the element that marker `partner` ends
    close,  // ends the element that marker `partner` begins
    begin,  // of an element that continues after the sentence
    end,    // of an element that began before the sentence
    alone,  // <img>, a comment, <code>f()</code> as a whole, a tag without its counterpart
  };
  Kind kind = Kind::alone;
  std::string bytes = {};       // as written in the document
  size_t at = 0;                // in bytes of the sentence; before a blank there
  size_t partner = 0;           // of open and close: an index of markers
  bool blank_before = false;    // white space since the text before it
  bool blank_after = false;     // white space after it, possibly with tags between
  bool after_previous = false;  // belongs to the text before it, not to what follows
};

/// A character that a sentence always writes as a reference: "é" as "&eacute;".
struct WrittenReference {
  std::string character, reference;
};

/// The markup of a sentence of HTML. Markers are in the order of the document; pairs are well nested, no begin or end
/// is inside a pair, and no end follows a begin.
struct InlineMarkup {
  std::vector<Marker> markers;
  std::vector<WrittenReference> references;
};

}  // namespace dragoman
