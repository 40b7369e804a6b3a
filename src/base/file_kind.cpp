#include "base/file_kind.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/utf8.h"

namespace dragoman {
namespace {

using namespace std::string_view_literals;

constexpr std::pair<std::string_view, std::string_view> magics[] = {
    {"\x1f\x8b"sv, "gzip data"},
    {"\xfd\x37zXZ\0"sv, "xz data"},
    {"\x28\xb5\x2f\xfd"sv, "zstd data"},
    {"\1\0\0\0\0\0\0\0"sv, "a Marian model (.bin)"},  // the format's version
    {"\xf5\x17\x34\x01\xd5\x48\x1a\xf1"sv, "a Marian shortlist (.bin)"},
    {"\x93NUMPY"sv, "a NumPy array (.npy)"},
    {"\x80\2c"sv, "a Python pickle"},
    {"\x80\2}"sv, "a Python pickle"},
    {"\x80\2\x8a"sv, "a PyTorch file"},  // before PyTorch used zip archives
    {"\x89HDF\r\n"sv, "an HDF5 file"},
    {"GGUF\3\0"sv, "a GGUF file"},
    {"\x89PNG\r\n\x1a\n"sv, "a PNG image"},
    {"\x7f"
     "ELF"sv,
     "a program"},
};

// The name of the first file in an archive identifies its writer.
std::string_view kind_of_zip(std::string_view begin) {
  constexpr size_t length_at = 26, name_at = 30;
  if (begin.size() < name_at) return "a zip archive";
  const std::string_view name = begin.substr(name_at, uint8_t(begin[length_at]));
  if (name.ends_with(".npy")) return "a NumPy archive (.npz), the format of Marian models";
  return name.ends_with("/data.pkl") ? "a PyTorch file" : "a zip archive";
}

// Its first ten bytes may begin a text. After the checksum comes the high byte of a number below 900,000.
bool is_bzip2(std::string_view begin) {
  constexpr size_t number_at = 14;
  return begin.size() > number_at && begin.starts_with("BZh") && begin.substr(4, 6) == "1AY&SY" &&
         uint8_t(begin[number_at]) < ' ';
}

// The first header: a checksum in octal digits that ends in a zero byte, and later the name of the format.
bool is_tar(std::string_view begin) {
  constexpr size_t end_of_checksum = 154, format_at = 257;
  return begin.size() > format_at && begin.substr(format_at).starts_with("ustar") && begin[end_of_checksum] == '\0';
}

// Eight bytes of length, whose upper half is zero because of the header limit, then JSON.
bool is_safetensors(std::string_view begin) {
  return begin.size() > 9 && begin[8] == '{' && begin.substr(4, 4) == "\0\0\0\0"sv;
}

// A protocol buffer whose first field is a piece: a message with its text, then its score or type.
bool is_sentencepiece(std::string_view begin) {
  constexpr size_t piece_at = 4;
  if (begin.size() < piece_at || begin[0] != '\n' || begin[2] != '\n') return false;
  const size_t after = piece_at + uint8_t(begin[3]);
  return begin.size() > after && (begin[after] == '\x15' || begin[after] == '\x18');
}

// Ignores what follows the last whole line or word, which may be cut off. Text contains no control characters.
bool is_text(std::string_view begin) {
  const size_t whole = begin.find_last_of(" \n");
  const std::string_view text = begin.substr(0, whole == begin.npos ? begin.size() : whole);
  const auto control = [](char c) { return uint8_t(c) < ' ' && c != '\t' && c != '\n' && c != '\r'; };
  return !text.empty() && std::ranges::none_of(text, control) && is_valid_utf8(text);
}

}  // namespace

std::string_view kind_of_binary(std::string_view begin) {
  if (begin.starts_with("PK\3\4")) return kind_of_zip(begin);
  for (const auto& [magic, kind] : magics)
    if (begin.starts_with(magic)) return kind;
  if (is_safetensors(begin)) return "a safetensors file";
  if (is_bzip2(begin)) return "bzip2 data";
  if (is_tar(begin)) return "a tar archive";
  return is_sentencepiece(begin) ? "a SentencePiece model" : "";
}

std::string_view kind_of_file(std::string_view begin) {
  const std::string_view kind = kind_of_binary(begin);
  if (begin.starts_with(R"({"format":"dragoman-vocabulary")")) return "a dragoman vocabulary";
  return kind.empty() && is_text(begin) ? "text" : kind;
}

}  // namespace dragoman
