#include <cmath>

#include "data/parallel_text.h"
#include "tests/fuzz/input_file.h"
#include "tests/fuzz/target.h"

namespace dragoman {
namespace {

// What the file is, by the first byte of an input: one of both sides, one side, weights.
TextPair text_of(char role, const std::string& file, const std::string& sound) {
  if (role == 't') return {{file, file}, true};
  if (role == 's') return {{sound, file}};
  return {{sound, sound}, false, file};
}

void require_side(const std::string& line) {
  invariant(line.find_first_of("\n\t") == line.npos, "a side of a tsv file is within its column");
}

}  // namespace

std::vector<std::string> seeds() {
  return {"ta dog .\tein Hund .\n\t\n\xC3(\t\xF0\x9F\x98\x80\r\nlast\tletzte", "sein Hund .\n\nzwei\r\n",
          "w0.5\n1e3\r\n 2 \n"};
}

void read(std::string_view input) {
  static const InputFile sound("a dog .\n\ntwo\n");
  const char role = input.empty() ? 'w' : input.front();
  const InputFile file(input.substr(std::min<size_t>(input.size(), 1)), ".text");
  const TextPair text = text_of(role, file.path(), sound.path());
  ParallelReader reader({text});
  for (std::array<std::string, 2> pair; reader.next(pair);) {
    if (text.tsv) require_side(pair[0]), require_side(pair[1]);
    invariant(std::isfinite(reader.weight()) && reader.weight() >= 0, "a weight is a number of at least 0");
  }
  invariant(reader.ends().size() == 1 && reader.ends().front() == reader.lines(), "a corpus ends behind its last line");
}

}  // namespace dragoman
