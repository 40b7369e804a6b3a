#include "base/error.h"
#include "base/file.h"
#include "tests/fuzz/target.h"
#include "vocab/vocabulary.h"

namespace dragoman {

std::vector<std::string> seeds() {
  std::vector<std::string> files;
  for (const char* type : {"bpe", "unigram"})
    files.push_back(read_file(fmt::format("{}/tests/vocab/golden/{}.spm", DRAGOMAN_SOURCE_DIR, type)));
  return files;
}

void read(std::string_view input) {
  const Vocabulary vocabulary = Vocabulary::from_bytes(std::string(input), "input");
  const auto ids = vocabulary.encode("A dog runs, 42 ☃ ﬁne!");
  vocabulary.decode(ids);
  vocabulary.decode_pieces(vocabulary.encode_pieces("ｆｕｌｌ width"));
  vocabulary.encode_given_pieces("▁a b <0x41>");
  for (int id = 0; id < vocabulary.size(); ++id) vocabulary.is_byte(id);
}

}  // namespace dragoman
