#include "tests/fuzz/mutator.h"

#include <algorithm>
#include <cctype>
#include <cstring>

namespace dragoman {
namespace {

constexpr char bytes_of_syntax[] = {'\0', '\n', '\r', '{', '}', '[', ']', '"', ':', ',', '-', '\x7f', '\x80', '\xff'};
constexpr const char* numbers[] = {
    "0",     "1",          "-1",    "4294967296",          "2147483648", "1000000000",
    "65536", "9999999999", "1e999", "9223372036854775807", "3",          "18446744073709551615"};
constexpr uint64_t words[] = {0, 1, 0x7fffffff, 0xffffffff, 0x100000000, 0x7fffffffffffffff, 0xffffffffffffffff};
constexpr size_t header_bytes = 1024;

}  // namespace

std::string Mutator::input(uint64_t number) {
  if (number < seeds_.size()) return seeds_[number];
  random_.seed(number);
  std::string bytes = seeds_[below(seeds_.size())];
  for (size_t changes = 1 + below(1 + below(5)); changes > 0; --changes) mutate(bytes);
  return bytes;
}

size_t Mutator::position(const std::string& bytes) {
  const size_t size = below(2) == 0 ? std::min(header_bytes, bytes.size()) : bytes.size();
  return size == 0 ? 0 : below(size);
}

// A run of digits becomes another number; half of the time as long as before, so that nothing else moves.
void Mutator::replace_number(std::string& bytes) {
  const auto digit = [](unsigned char c) { return std::isdigit(c) != 0; };
  const auto begin = std::find_if(bytes.begin() + position(bytes), bytes.end(), digit);
  const auto end = std::find_if_not(begin, bytes.end(), digit);
  std::string number = numbers[below(std::size(numbers))];
  if (below(2) == 0) number.resize(size_t(end - begin), '9');
  bytes.replace(begin, end, number);
}

// A run of letters becomes a word of the format.
void Mutator::replace_word(std::string& bytes) {
  const auto letter = [](unsigned char c) { return std::isalpha(c) != 0 || c == '_' || c == '-'; };
  const auto begin = std::find_if(bytes.begin() + std::ptrdiff_t(position(bytes)), bytes.end(), letter);
  const auto end = std::find_if_not(begin, bytes.end(), letter);
  bytes.replace(begin, end, structure_.word(random_));
}

void Mutator::mutate(std::string& bytes) {
  if (below(2) == 0 || !structure_.change(bytes, random_)) mutate_bytes(bytes);
}

void Mutator::mutate_bytes(std::string& bytes) {
  const size_t at = position(bytes), length = std::min(bytes.size() - at, 1 + below(below(2) == 0 ? 8 : 256));
  switch (below(10)) {
    case 0:
      if (at < bytes.size()) bytes[at] = char(bytes[at] ^ 1 << below(8));
      break;
    case 1:
      if (at < bytes.size()) bytes[at] = char(random_());
      break;
    case 2:
      if (at < bytes.size()) bytes[at] = bytes_of_syntax[below(std::size(bytes_of_syntax))];
      break;
    case 3:
      bytes.erase(at, length);
      break;
    case 4:
      bytes.insert(at, bytes.substr(at, length));
      break;
    case 5: {
      const std::string& other = seeds_[below(seeds_.size())];
      if (!other.empty()) bytes.replace(at, length, other.substr(below(other.size()), length));
      break;
    }
    case 6:
      if (below(4) == 0) bytes.resize(at);
      break;
    case 7:
      replace_number(bytes);
      break;
    case 8:
      replace_word(bytes);
      break;
    default: {
      const uint64_t word = words[below(std::size(words))];
      std::memcpy(bytes.data() + at, &word, std::min(length, sizeof word));
    }
  }
}

}  // namespace dragoman
