#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/byte_range.h"

namespace dragoman {

/// A line as ids, and the range of each in the line before normalisation.
///
/// A range may include the blanks that its piece stands for. Ranges do not overlap, except that the bytes of one
/// character all have that character's range. If normalisation makes several pieces of a character, such as the
/// ligature "ﬁ", the last one has the range, the others empty ones. Adjacent characters that the vocabulary lacks may
/// be one unknown piece with one range.
struct EncodedLine {
  std::vector<int32_t> ids;
  std::vector<ByteRange> ranges;  // one per id
};

/// The same for written pieces.
struct WrittenLine {
  std::vector<std::string> pieces;
  std::vector<ByteRange> ranges;  // one per piece
};

/// A text, and the range of each id's piece in it. Special pieces, which are dropped, have empty ranges; all bytes of
/// one character have that character's range. If a SentencePiece model has a denormalizer that changes the text, ranges
/// are those before the change, cut to the length of the text; all others are exact.
struct DecodedText {
  std::string text;
  std::vector<ByteRange> ranges;  // one per id
};

}  // namespace dragoman
