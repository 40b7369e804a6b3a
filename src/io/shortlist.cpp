#include "io/shortlist.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "base/file.h"
#include "base/file_kind.h"
#include "io/safetensors.h"
#include "io/xxhash64.h"

namespace dragoman {
namespace {

constexpr const char *format = "dragoman-shortlist", *version = "1";

/// A set of numbers below a limit.
class Marks {
 public:
  explicit Marks(int32_t limit) : words_(size_t(limit) / 64 + 1) {}
  void add(std::span<const int32_t> numbers) {
    for (const int32_t n : numbers) words_[size_t(n) / 64] |= uint64_t{1} << (n % 64);
  }
  std::vector<int32_t> rising() const {
    std::vector<int32_t> numbers;
    for (size_t w = 0; w < words_.size(); ++w)
      for (uint64_t left = words_[w]; left != 0; left &= left - 1)
        numbers.push_back(int32_t(w * 64) + std::countr_zero(left));
    return numbers;
  }

 private:
  std::vector<uint64_t> words_;
};

std::string checksum(const Vocabulary& vocabulary) {
  XxHash64 hash;
  hash.add(std::as_bytes(std::span(vocabulary.bytes())));
  return fmt::format("{:016x}", hash.digest());
}

TensorEntry entry_of(const std::string& name, const std::vector<int32_t>& numbers) {
  return {name, DType::i32, {int64_t(numbers.size())}, std::as_bytes(std::span(numbers))};
}

std::string metadata(const SafetensorsFile& file, const std::string& key) {
  const auto found = file.metadata().find(key);
  return found == file.metadata().end() ? "" : found->second;
}

void require_shortlist(const SafetensorsFile& file) {
  if (metadata(file, "format") != format)
    throw Error(file.path() + " is a safetensors file, but not a dragoman shortlist",
                "dragoman align --shortlist writes one");
  require(metadata(file, "version") == version, "{} is a shortlist of version {}, this dragoman reads {}", file.path(),
          metadata(file, "version"), version);
}

void require_vocabulary(const SafetensorsFile& file, const std::string& side, const Vocabulary& vocabulary) {
  const std::string found = metadata(file, side + "_vocabulary"), expected = checksum(vocabulary);
  if (found == expected) return;
  throw Error(fmt::format("{} was made for another {} vocabulary than the model's (checksum {}, expected {})",
                          file.path(), side, found, expected),
              "dragoman align --model MODEL --shortlist FILE makes one for a model");
}

void require_sound(const Shortlist& s, const std::string& path, int32_t source_vocabulary) {
  const auto in_range = [&](int32_t id) { return id >= 0 && id < s.target_vocabulary; };
  require(std::ranges::all_of(s.first, in_range) && std::ranges::all_of(s.best, in_range),
          "{} contains ids of pieces out of range, expected 0 to {}", path, s.target_vocabulary - 1);
  require(int64_t(s.begins.size()) == int64_t{source_vocabulary} + 1 && s.begins.front() == 0 &&
              s.begins.back() == int64_t(s.best.size()) && std::ranges::is_sorted(s.begins),
          "{}: 'begins' does not divide the {} ids of 'best' among {} source pieces", path, s.best.size(),
          source_vocabulary);
}

}  // namespace

std::vector<int32_t> Shortlist::candidates(std::span<const int32_t> source, std::span<const int32_t> more) const {
  Marks marks(target_vocabulary);
  marks.add(first);
  marks.add(more);
  for (const int32_t piece : source)
    marks.add(std::span(best).subspan(size_t(begins[piece]), size_t(begins[piece + 1] - begins[piece])));
  return marks.rising();
}

std::string Shortlist::checksum() const {
  XxHash64 hash;
  for (const auto* list : {&first, &begins, &best}) {
    const size_t size = list->size();
    hash.add(std::as_bytes(std::span(&size, 1)));
    hash.add(std::as_bytes(std::span(*list)));
  }
  return fmt::format("{:016x}", hash.digest());
}

void save_shortlist(const std::string& path, const Shortlist& shortlist, const Vocabulary& source,
                    const Vocabulary& target) {
  write_safetensors(
      path,
      {entry_of("first", shortlist.first), entry_of("begins", shortlist.begins), entry_of("best", shortlist.best)},
      {{"format", format},
       {"version", version},
       {"source_vocabulary", checksum(source)},
       {"target_vocabulary", checksum(target)}});
}

bool is_shortlist(const std::string& path) {
  const MappedFile file(path);
  const std::string_view begin(reinterpret_cast<const char*>(file.data()), std::min<size_t>(file.size(), 512));
  return kind_of_file(begin) == "a safetensors file" && metadata(SafetensorsFile(path), "format") == format;
}

Shortlist load_shortlist(const std::string& path, const Vocabulary& source, const Vocabulary& target) {
  const SafetensorsFile file(path);
  require_shortlist(file);
  require_vocabulary(file, "source", source);
  require_vocabulary(file, "target", target);
  Shortlist s{.first = values_of<int32_t>(file, "first"),
              .begins = values_of<int32_t>(file, "begins"),
              .best = values_of<int32_t>(file, "best"),
              .target_vocabulary = target.size()};
  require_sound(s, path, source.size());
  if (s.best.empty())
    throw Error(path + " is an empty shortlist: it has no translation of any piece",
                "train it on more text with dragoman align --train-sets");
  return s;
}

}  // namespace dragoman
