#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_range.h"

namespace dragoman {

/// Splits a line into sentences by the rules of Unicode (UAX 29, in ICU), except where an abbreviation precedes.
///
/// Abbreviations are our own: those of CLDR, which ICU offers, lack "Dr.", "St." and "z. B." and include words that
/// often end a sentence ("Go.", "In.", "All."). In doubt two sentences stay together, which translates better than half
/// a sentence. A break needs white space after it, except in Chinese and Japanese. Not thread-safe; making one takes
/// some microseconds.
class SentenceBreaker {
 public:
  /// A BCP 47 tag, such as "de" or "pt-BR"; languages without abbreviations here get only the general rules.
  explicit SentenceBreaker(std::string_view language);
  ~SentenceBreaker();
  SentenceBreaker(const SentenceBreaker&) = delete;

  /// In order, each without white space around it; only white space lies between. Ill-formed UTF-8 is treated as text.
  /// The text has less than 2 GiB.
  std::vector<ByteRange> sentences(std::string_view text);

 private:
  struct Rules;
  const std::unique_ptr<Rules> rules_;
};

}  // namespace dragoman
