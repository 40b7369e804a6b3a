#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "tests/fuzz/target.h"
#include "tests/source_dir.h"
#include "vocab/container.h"
#include "vocab/piece_list.h"
#include "vocab/summary.h"
#include "vocab/vocabulary.h"
#include "vocab/wire_format.h"

namespace dragoman {
namespace {

constexpr uint64_t normalizer = 3, precompiled_charsmap = 2;

std::string golden(const char* type) {
  return read_file(fmt::format("{}/tests/vocab/golden/{}.spm", source_dir(), type));
}

std::string_view field_of(std::string_view message, uint64_t id) {
  Message fields(message);
  while (const auto field = fields.next())
    if (field->id == id) return field->bytes;
  return {};
}

std::string with_field(uint64_t id, std::string_view bytes) {
  std::string message(1, char(id << 3 | 2));
  uint64_t size = bytes.size();
  for (; size >= 0x80; size >>= 7) message += char(size | 0x80);
  message += char(size);
  return message.append(bytes);
}

// "a" and "ab" become "A": a trie so small that changes hit it.
std::string small_charsmap() {
  constexpr uint32_t leaf = 1U << 31, ends_key = 1U << 8;
  std::vector<uint32_t> numbers(1 + 1024, leaf);
  uint32_t* units = numbers.data() + 1;
  numbers[0] = 1024 * sizeof(uint32_t);
  units[0] = 256 << 10;
  units[256 ^ 'a'] = (256 ^ 'a' ^ 512) << 10 | ends_key | 'a';
  units[512 ^ 'b'] = (512 ^ 'b' ^ 768) << 10 | ends_key | 'b';
  return std::string(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(uint32_t)) +
         std::string("A\0", 2);
}

std::vector<std::string> containers(const std::string& sentencepiece) {
  const SpecialPieces special{.unk = 1, .eos = 0, .pad = 2, .control = {3}};
  std::vector<std::string> pieces = {"</s>", "<unk>", "<pad>", ">>de<<", "a@@", "ab", "a", "▁a", "▁", "b", "<0x41>"};
  return {to_container({SegmentationKind::tokens, special, pieces, ""}),
          to_container({SegmentationKind::bpe, special, pieces, "#version: 0.2\na b</w>\na a\naa ab</w>\n"}),
          to_container({SegmentationKind::bpe, special, pieces, "a b\nb </w>\nab b</w>\n"}),
          to_container({SegmentationKind::sentencepiece, special, pieces, sentencepiece})};
}

}  // namespace

std::vector<std::string> seeds() {
  const std::string bpe = golden("bpe");
  std::vector<std::string> all = containers(bpe);
  all.insert(all.end(), {"</s>: 0\n<unk>: 1\n\"\\u2581\\\"\\ud83d\\ude00\": 2\n'it''s': 3\na:b: 4\n",
                         R"({"</s>": 0, "<unk>": 1, "\u2581the": 2})"});
  all.insert(all.end(), {bpe, golden("unigram"), small_charsmap(),
                         std::string(field_of(field_of(bpe, normalizer), precompiled_charsmap))});
  return all;
}

// A whole model, which begins with a piece, a whole container, a list of pieces, or the character map of a model.
void read(std::string_view input) {
  static const std::string bpe = golden("bpe");
  if (input.starts_with("</s>") || input.starts_with("{\"</s>")) return void(pieces_of_yaml(input, "input"));
  const bool whole = input.starts_with('\n') || is_container(input);
  const Vocabulary vocabulary = Vocabulary::from_bytes(
      whole ? std::string(input) : bpe + with_field(normalizer, with_field(precompiled_charsmap, input)), "input");
  vocabulary.encode("ab aa abab " + std::string(100, 'a'));
  const auto ids = vocabulary.encode("A dog runs, 42 ☃ ﬁne!");
  vocabulary.decode(ids);
  vocabulary.decode_pieces(vocabulary.encode_pieces("ｆｕｌｌ width"));
  vocabulary.encode_given_pieces("▁a b <0x41>");
  for (int id = 0; id < vocabulary.size(); ++id) vocabulary.is_byte(id);
  summary_of(vocabulary);
}

}  // namespace dragoman
