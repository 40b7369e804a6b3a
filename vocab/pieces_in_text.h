#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/byte_range.h"

namespace dragoman {

/// A line as ids, and where each comes from in the line as it was before normalisation.
///
/// A range may begin with the blanks that its piece stands for. Ranges do not overlap but for those of the bytes of one
/// character, which all have that character's range. Of a character that normalisation makes several pieces of, such as
/// the ligature "ﬁ", the last has the range, those before are empty. Adjacent characters that the vocabulary lacks may
/// be one unknown piece with one range.
struct EncodedLine {
  std::vector<int32_t> ids;
  std::vector<ByteRange> ranges;  // one an id
};

/// The same of written pieces.
struct WrittenLine {
  std::vector<std::string> pieces;
  std::vector<ByteRange> ranges;  // one a piece
};

/// A text, and where the piece of each id is in it. Special pieces, which vanish, have empty ranges; all bytes of one
/// character have that character's range. Ranges of a SentencePiece model with a denormalizer that changes the text are
/// those before it did, as far as the text reaches; all others are exact.
struct DecodedText {
  std::string text;
  std::vector<ByteRange> ranges;  // one an id
};

}  // namespace dragoman
