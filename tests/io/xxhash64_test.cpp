#include "io/xxhash64.h"

#include <gtest/gtest.h>

#include <string_view>

namespace dragoman {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

// Expected values by the python package xxhash (xxh64, seed 0), which wraps the original library.
struct Known {
  std::string_view text;
  uint64_t digest;
};
constexpr Known known[] = {
    {"", 0xef46db3751d8e999},
    {"a", 0xd24ec4f1a98c6e5b},
    {"abc", 0x44bc2cf5ad770999},
    {"Nobody inspects the spammish repetition", 0xfbcea83c8a378bf1},
    {"Nobody inspects the spammish repetition, nor does anybody expect it to be inspected at all", 0x94ec00ee184a4ecf},
};

TEST(XxHash64, GivesTheDigestsOfTheOriginal) {
  for (const auto& [text, digest] : known) {
    XxHash64 hash;
    hash.add(bytes_of(text));
    EXPECT_EQ(hash.digest(), digest) << text;
  }
}

TEST(XxHash64, DoesNotDependOnHowTheBytesArePutTogether) {
  for (const auto& [text, digest] : known)
    for (size_t cut = 0; cut <= text.size(); ++cut) {
      XxHash64 hash;
      hash.add(bytes_of(text.substr(0, cut)));
      hash.add({});
      for (size_t i = cut; i < text.size(); ++i) hash.add(bytes_of(text.substr(i, 1)));
      EXPECT_EQ(hash.digest(), digest) << text << " cut at " << cut;
    }
}

}  // namespace
}  // namespace dragoman
