#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_range.h"

namespace dragoman {

/// Cuts a line into sentences by the rules of Unicode (UAX 29, in ICU), less the breaks that an abbreviation makes.
///
/// Abbreviations are our own: those of CLDR, which ICU offers, lack "Dr.", "St." and "z. B." and hold words that often
/// end a sentence ("Go.", "In.", "All."). In doubt two sentences stay together, which translates better than half a
/// one. A break needs white space behind it, except in Chinese and Japanese. Not thread-safe; making one takes some
/// microseconds.
class SentenceBreaker {
 public:
  /// A BCP 47 tag, such as "de" or "pt-BR"; of others only the general rules are known.
  explicit SentenceBreaker(std::string_view language);
  ~SentenceBreaker();
  SentenceBreaker(const SentenceBreaker&) = delete;

  /// In order, each without white space around it; nothing but white space lies between. Ill-formed UTF-8 is text like
  /// any other. The text has less than 2 GiB.
  std::vector<ByteRange> sentences(std::string_view text);

 private:
  struct Rules;
  const std::unique_ptr<Rules> rules_;
};

}  // namespace dragoman
