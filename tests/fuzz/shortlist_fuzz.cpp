#include <cstring>
#include <numeric>

#include "base/file.h"
#include "interop/open_shortlist.h"
#include "tests/fuzz/input_file.h"
#include "tests/fuzz/target.h"
#include "tests/source_dir.h"

namespace dragoman {
namespace {

const Vocabulary& vocabulary() {
  static const Vocabulary v = Vocabulary::load(source_dir() + "/tests/vocab/golden/bpe.spm");
  return v;
}

template <class T>
std::string bytes_of(const std::vector<T>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(T)};
}

// Marian's checksum, without which no change reaches the reader's other checks.
uint64_t checksum_of(std::string_view content) {
  uint64_t hash = 0, word = 0;
  for (size_t at = 0; at + sizeof(word) <= content.size(); at += sizeof(word)) {
    std::memcpy(&word, content.data() + at, sizeof(word));
    hash ^= word + 0x9e3779b9 + (hash << 6) + (hash >> 2);
  }
  return hash;
}

std::string with_checksum(std::string file) {
  const uint64_t sum = checksum_of(std::string_view(file).substr(16));
  std::memcpy(file.data() + 8, &sum, sizeof(sum));
  return file;
}

std::string binary() {
  const auto size = uint64_t(vocabulary().size());
  std::vector<uint64_t> begins;
  for (uint64_t piece = 0; piece <= size; ++piece) begins.push_back(piece);
  std::vector<uint32_t> best(size, 7);
  return with_checksum(bytes_of<uint64_t>({0xF11A48D5013417F5, 0, 10, 1, size + 1, size}) + bytes_of(begins) +
                       bytes_of(best));
}

void open(std::string_view input) {
  const InputFile file(input);
  const Shortlist s = open_shortlist(file.path(), {.first = 10, .best = 2}, vocabulary(), vocabulary());
  std::vector<int32_t> every(size_t(vocabulary().size()));
  std::iota(every.begin(), every.end(), 0);
  for (const int32_t id : s.candidates(every)) invariant(id >= 0 && id < vocabulary().size(), "a candidate is a piece");
}

}  // namespace

std::vector<std::string> seeds() {
  const std::string a = vocabulary().piece(40), b = vocabulary().piece(41);
  return {binary(), a + " " + b + " 0.5\nNULL " + b + " 0.25\n" + b + " " + b + " 1e-3\n"};
}

// As it is, and with the checksum that fits.
void read(std::string_view input) {
  if (input.size() >= 48 && is_marian_shortlist(input)) {
    try {
      open(input);
    } catch (const Error&) {}
    return open(with_checksum(std::string(input)));
  }
  open(input);
}

}  // namespace dragoman
