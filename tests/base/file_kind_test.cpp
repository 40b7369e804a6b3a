#include "base/file_kind.h"

#include <gtest/gtest.h>

#include <string>

namespace dragoman {
namespace {

using namespace std::string_view_literals;

std::string zip_of(std::string_view name) {
  std::string begin = "PK\3\4" + std::string(22, '\0');
  begin += std::string{char(name.size()), '\0', '\0', '\0'};
  return begin.append(name) + "data";
}

std::string tar_of(const std::string& name) {
  std::string header(512, '\0');
  header.replace(0, name.size(), name);
  header.replace(148, 8, "012345\0 "sv);
  header.replace(257, 6, "ustar "sv);
  return header;
}

TEST(FileKind, IsKnownByTheFirstBytes) {
  EXPECT_EQ(kind_of_file("\x1f\x8b\x08rest"sv), "gzip data");
  EXPECT_EQ(kind_of_file("\x10\0\0\0\0\0\0\0{\"a\""sv), "a safetensors file");
  EXPECT_EQ(kind_of_file("\n\x0e\n\5<unk>\x15\0\0\0\0\x18\2"sv), "a SentencePiece model");
  EXPECT_EQ(kind_of_file("\1\0\0\0\0\0\0\0\x2a\0\0\0\0\0\0\0"sv), "a Marian model (.bin)");
  EXPECT_EQ(kind_of_file(zip_of("decoder_Wemb.npy")), "a NumPy archive (.npz), the format of Marian models");
  EXPECT_EQ(kind_of_file(zip_of("model/data.pkl")), "a PyTorch file");
  EXPECT_EQ(kind_of_file(zip_of("readme.txt")), "a zip archive");
  EXPECT_EQ(kind_of_file("PK\3\4"), "a zip archive");
  EXPECT_EQ(kind_of_file("BZh91AY&SY\x12\x34\x56\x78\0\1"sv), "bzip2 data");
  EXPECT_EQ(kind_of_file("\x89PNG\r\n\x1a\n\0"sv), "a PNG image");
  EXPECT_EQ(kind_of_file(tar_of("text.de")), "a tar archive");
}

TEST(FileKind, IsTextOnlyForWhatReadsAsText) {
  for (const auto text : {"a"sv, "two words\n"sv, "\n\n"sv, "Größe\tund\r\nso weit"sv, "cut in a char\xc3"sv})
    EXPECT_EQ(kind_of_file(text), "text") << text;
  for (const auto other : {""sv, "a\0b c"sv, "\x80\x81 \x82"sv}) EXPECT_EQ(kind_of_file(other), "");
}

TEST(FileKind, IsNoBinaryForAnyText) {
  for (const auto text : {"\n"sv, "\n\n"sv, "\na\nb c\x15"sv, "PK is a park"sv, "BZh91AY&SY is how bzip2 data begins"sv,
                          "\n\x0e\n\x05 d"sv})
    EXPECT_EQ(kind_of_binary(text), "") << text;
}

}  // namespace
}  // namespace dragoman
