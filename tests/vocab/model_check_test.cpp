#include "vocab/model_check.h"

#include <gmock/gmock.h>

#include <cstring>
#include <limits>
#include <vector>

#include "base/file.h"
#include "tests/source_dir.h"
#include "vocab/charsmap.h"
#include "vocab/vocabulary.h"
#include "vocab/wire_format.h"

namespace dragoman {
namespace {

using testing::HasSubstr;

std::string varint(uint64_t number) {
  std::string bytes;
  for (; number >= 0x80; number >>= 7) bytes += char(number | 0x80);
  return bytes + char(number);
}

std::string field(int id, const std::string& bytes) {
  return varint(uint64_t(id) << 3 | 2) + varint(bytes.size()) + bytes;
}

std::string score(float number) {
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  return varint(2 << 3 | 5) + bytes;
}

std::string user_defined(const std::string& text) { return field(1, field(1, text) + varint(3 << 3) + varint(4)); }

std::string charsmap(const std::vector<uint32_t>& units, const std::string& strings) {
  const auto size = uint32_t(units.size() * sizeof(uint32_t));
  std::string bytes(sizeof size + size, '\0');
  std::memcpy(bytes.data(), &size, sizeof size);
  if (size > 0) std::memcpy(bytes.data() + sizeof size, units.data(), size);
  return bytes + strings;
}

// A trie with the key "a": the root's children stand from unit 256 on, those of "a" from unit 512 on.
constexpr uint32_t leaf = 1U << 31, ends_key = 1U << 8;
uint32_t unit(uint32_t label, uint32_t offset, uint32_t flags = 0) { return offset << 10 | label | flags; }
std::vector<uint32_t> trie_of_a(uint32_t value) {
  std::vector<uint32_t> units(768, leaf);
  units[0] = unit(0, 256);
  units[256 + 'a'] = unit('a', 256 ^ 'a' ^ 512, ends_key);
  units[512] = leaf | value;
  return units;
}

std::string golden_model(const std::string& type) {
  return read_file(source_dir() + "/tests/vocab/golden/" + type + ".spm");
}

TEST(ModelCheck, TakesSoundModels) {
  EXPECT_EQ(fault_of_model(golden_model("bpe")), "");
  EXPECT_EQ(fault_of_model(golden_model("unigram")), "");
  EXPECT_EQ(fault_of_charsmap(charsmap(trie_of_a(2), std::string("A\0B\0", 4))), "");
}

TEST(ModelCheck, FindsTriesThatLeadOutside) {
  const std::string strings("A\0", 2);
  auto far = trie_of_a(0);
  far[256 + 'a'] = unit('a', 100'000);
  EXPECT_THAT(fault_of_charsmap(charsmap(far, strings)), HasSubstr("leads to unit"));
  auto wide = trie_of_a(0);
  wide[256 + 'a'] = unit('a', 0x3FF, 1U << 9);  // an offset times 256
  EXPECT_THAT(fault_of_charsmap(charsmap(wide, strings)), HasSubstr("leads to unit"));
  auto short_one = trie_of_a(0);
  short_one.resize(600);
  EXPECT_THAT(fault_of_charsmap(charsmap(short_one, strings)), HasSubstr("leads to unit 512, of 600"));
  EXPECT_THAT(fault_of_charsmap(charsmap({unit(0, 1 << 20)}, strings)), HasSubstr("leads to unit"));
  EXPECT_THAT(fault_of_charsmap(charsmap({}, strings)), HasSubstr("empty"));
}

TEST(ModelCheck, FindsTriesWithTooManyMatches) {
  auto circle = trie_of_a(0);
  circle[256 + 'a'] = unit('a', 'a', ends_key);
  EXPECT_THAT(fault_of_charsmap(charsmap(circle, std::string("A\0", 2))), HasSubstr("cycle"));
  std::vector<uint32_t> chain(256 * 40, leaf);  // "a", "aa", "aaa" …
  chain[0] = unit(0, 256);
  for (uint32_t i = 1; i <= 33; ++i) chain[256 * i + 'a'] = unit('a', 256 * i ^ 256 * (i + 1) ^ 'a', ends_key);
  EXPECT_THAT(fault_of_charsmap(charsmap(chain, std::string("A\0", 2))), HasSubstr("are prefixes of one another"));
  chain[256 * 33 + 'a'] = leaf;
  EXPECT_EQ(fault_of_charsmap(charsmap(chain, std::string("A\0", 2))), "");
}

TEST(ModelCheck, FindsResultsOutsideTheirStrings) {
  EXPECT_THAT(fault_of_charsmap(charsmap(trie_of_a(2), std::string("A\0", 2))), HasSubstr("begins at byte 2, of 2"));
  EXPECT_THAT(fault_of_charsmap(charsmap(trie_of_a(1), std::string("\u00C4\0", 3))), HasSubstr("within a character"));
  EXPECT_THAT(fault_of_charsmap(charsmap(trie_of_a(0), "A")), HasSubstr("end with NUL"));
  EXPECT_THAT(fault_of_charsmap(charsmap(trie_of_a(0), "")), HasSubstr("end with NUL"));
  EXPECT_THAT(fault_of_charsmap(charsmap(trie_of_a(0), std::string("\xFF\0", 2))), HasSubstr("UTF-8"));
}

TEST(ModelCheck, FindsSizesThatCannotBe) {
  EXPECT_THAT(fault_of_charsmap("abc"), HasSubstr("3 bytes"));
  EXPECT_THAT(fault_of_charsmap(std::string("\4\0\0\0ab\0", 7)), HasSubstr("trie has 4 bytes, of 3"));
  EXPECT_THAT(fault_of_charsmap(std::string("\2\0\0\0ab\0", 7)), HasSubstr("no multiple"));
}

// Fields that come again replace or join those before them.
TEST(ModelCheck, ChecksEveryCharacterMap) {
  for (const auto& [id, name] : {std::pair(3, "its normalizer"), std::pair(5, "its denormalizer")}) {
    const std::string broken = field(id, field(2, "abc"));
    EXPECT_THAT(fault_of_model(golden_model("bpe") + broken), HasSubstr(name));
    EXPECT_THAT(fault_of_model(golden_model("bpe") + broken + field(id, field(1, "name"))), HasSubstr(name));
    EXPECT_ANY_THROW(Vocabulary::from_bytes(golden_model("bpe") + broken, "v"));
  }
}

TEST(ModelCheck, FindsPiecesThatTheLibraryCannotStand) {
  const auto with = [](const std::string& piece) { return fault_of_model(golden_model("unigram") + field(1, piece)); };
  EXPECT_THAT(with(field(1, "x") + score(std::numeric_limits<float>::quiet_NaN())), HasSubstr("has the score nan"));
  EXPECT_THAT(with(field(1, "x") + score(-std::numeric_limits<float>::infinity())), HasSubstr("has the score -inf"));
  EXPECT_THAT(with(field(1, "\xC3")), HasSubstr("not valid UTF-8"));
  EXPECT_THAT(with(field(1, std::string("a\0b", 3))), HasSubstr("holds a NUL"));
  EXPECT_THAT(with(field(1, "x") + field(1, "y")), HasSubstr("appears twice"));
  EXPECT_THAT(with(field(1, "x") + "\x0B"), HasSubstr("is cut off"));
  EXPECT_EQ(with(field(1, "x") + score(-1)), "");
  EXPECT_EQ(with(field(1, "x") + varint(2 << 3) + varint(7)), "");  // a whole number is no score
}

TEST(ModelCheck, FindsSymbolsThatBeginOneAnotherTooOften) {
  std::string model = golden_model("bpe");
  for (int length = 1; length <= 64; ++length) model += user_defined(std::string(size_t(length), 'q'));
  EXPECT_EQ(fault_of_model(model), "");
  EXPECT_THAT(fault_of_model(model + user_defined(std::string(65, 'q'))), HasSubstr("are prefixes of one another"));
}

TEST(WireFormat, SaysWhereAMessageBreaks) {
  for (const char* broken : {"\x0A", "\x0A\x02x", "\x08\x80", "\x0D\1\1", "\x0B", "\xFF\xFF\xFF\xFF\xFF\1\1"}) {
    Message message(broken);
    while (message.next()) {}
    EXPECT_TRUE(message.broken()) << broken;
  }
  Message message("\x08\x96\x01");
  EXPECT_EQ(message.next()->number, 150u);
  EXPECT_FALSE(message.next() || message.broken());
}

}  // namespace
}  // namespace dragoman
