#include "data/survey.h"

#include <algorithm>

#include "base/error.h"
#include "base/philox.h"
#include "base/threads.h"
#include "base/utf8.h"
#include "data/id_pairs.h"

namespace dragoman {
namespace {

using Pair = std::array<std::string, 2>;
using Ids = std::array<std::vector<int32_t>, 2>;

constexpr int64_t encoded_together = 10'000;  // lines

int64_t count_words(std::string_view line) {
  int64_t words = 0;
  bool inside = false;
  for (const char c : line) {
    const bool blank = c == ' ' || c == '\t';
    words += !blank && !inside;
    inside = !blank;
  }
  return words;
}

// Compares characters, since languages written without blanks have few words.
bool is_uneven(const Pair& pair) {
  const int64_t a = count_characters(pair[0]), b = count_characters(pair[1]);
  return std::max(a, b) > 3 * std::min(a, b) && std::max(a, b) - std::min(a, b) >= 20;
}

void count_at(std::vector<int64_t>& counts, size_t at) {
  if (counts.size() <= at) counts.resize(at + 1);
  ++counts[at];
}

struct Line {
  int64_t number;
  Pair pair;
  LinkLine links;
};

// A uniform sample of pairs that arrive one by one (Vitter 1985, algorithm R).
class Sample {
 public:
  Sample(int64_t size, uint64_t seed) : size_(size), numbers_(seed, 0) {}

  void offer(Line line) {
    ++offered_;
    if (int64_t(lines_.size()) < size_) return lines_.push_back(std::move(line));
    const auto index = int64_t(numbers_.below(uint64_t(offered_)));
    if (index < size_) lines_[index] = std::move(line);
  }
  std::vector<Line> take() {
    std::ranges::sort(lines_, {}, &Line::number);
    return std::move(lines_);
  }

 private:
  int64_t size_, offered_ = 0;
  PhiloxSequence numbers_;
  std::vector<Line> lines_;
};

class Surveyor {
 public:
  Surveyor(const std::vector<TextPair>& texts, const std::vector<Vocabulary>& vocabularies,
           const SurveyOptions& options, Corpus* kept)
      : vocabularies_(vocabularies),
        options_(options),
        kept_(kept),
        reader_(texts),
        sample_(options.sample, options.seed) {
    for (int s : {0, 1}) survey_.sides[s].path = side_name(texts, s);
  }

  CorpusSurvey survey() {
    for (Pair pair; reader_.next(pair);) take(++survey_.lines, pair);
    for (Line& line : sample_.take()) encode_later(std::move(line));
    encode();
    for (int s : {0, 1}) survey_.sides[s].invalid_utf8 = reader_.invalid(s);
    std::ranges::sort(hashes_);
    if (kept_) set_ends(*kept_, reader_.ends());
    const auto again = std::ranges::unique(hashes_);
    survey_.duplicates = int64_t(again.size());
    return std::move(survey_);
  }

 private:
  void take(int64_t number, const Pair& pair) {
    std::array<int64_t, 2> words;
    for (int s : {0, 1}) {
      SurveyedSide& side = survey_.sides[s];
      side.words += words[s] = count_words(pair[s]);
      if (words[s] > side.longest) side.longest = words[s], side.longest_line = number;
      if (vocabularies_.empty()) count_at(side.lengths, size_t(words[s]));
    }
    if (std::min(words[0], words[1]) == 0) return survey_.empty.add(number);
    if (pair[0] == pair[1]) survey_.copies.add(number);
    if (is_uneven(pair)) survey_.uneven.add(number);
    hashes_.push_back(std::hash<std::string>{}(pair[0] + "\n" + pair[1]));
    if (vocabularies_.empty()) return;
    Line line{number, pair, reader_.take_links()};
    if (options_.sample > 0)
      sample_.offer(std::move(line));
    else
      encode_later(std::move(line));
  }

  void encode_later(Line line) {
    to_encode_.push_back(std::move(line));
    if (std::ssize(to_encode_) == encoded_together) encode();
  }

  // Encodes on all threads and counts in the order of the text.
  void encode() {
    std::vector<Ids> ids(to_encode_.size());
    parallel_items(std::ssize(to_encode_), [&](int64_t i, int) {
      for (int s : {0, 1}) {
        const Vocabulary& v = vocabularies_[s];
        const std::string& text = to_encode_[i].pair[s];
        ids[i][s] = options_.no_spm_encode ? v.encode_given_pieces(text) : v.encode(text);
      }
    });
    for (size_t i = 0; i < ids.size(); ++i) count(to_encode_[i], ids[i]);
    to_encode_.clear();
  }

  void count(Line& line, Ids& ids) {
    line.links.require_tokens(int64_t(ids[0].size()) + 1, int64_t(ids[1].size()) + 1);
    for (int s : {0, 1}) {
      const Vocabulary& v = vocabularies_[s];
      SurveyedSide& side = survey_.sides[s];
      side.pieces += int64_t(ids[s].size());
      side.unknown += std::ranges::count(ids[s], v.unk());
      side.byte_pieces += std::ranges::count_if(ids[s], [&](int32_t id) { return v.is_byte(id); });
      count_at(side.lengths, ids[s].size());
    }
    ++survey_.encoded;
    if (ids[0].empty() || ids[1].empty()) return survey_.no_pieces.add(line.number);
    const bool longer = crop(ids[0], ids[1], line.links.links, options_.max_length);
    if (longer) survey_.too_long.add(line.number);
    if (kept_ && (!longer || options_.crops)) keep(line, ids);
  }

  void keep(Line& line, Ids& ids) {
    for (int s : {0, 1}) ids[s] = kept_->files.framed(s, std::move(ids[s]));
    kept_->pairs.add({int32_t(line.number - 1), ids[0], ids[1], 1, kept_->files.framed(std::move(line.links.links))});
  }

  const std::vector<Vocabulary>& vocabularies_;
  const SurveyOptions options_;
  Corpus* kept_;
  ParallelReader reader_;
  Sample sample_;
  std::vector<Line> to_encode_;
  std::vector<uint64_t> hashes_;  // of every pair: 8 bytes, where a set would take 40
  CorpusSurvey survey_;
};

}  // namespace

CorpusSurvey survey_corpus(const std::vector<TextPair>& texts, const std::vector<Vocabulary>& vocabularies,
                           const SurveyOptions& options, Corpus* kept) {
  return Surveyor(texts, vocabularies, options, kept).survey();
}

}  // namespace dragoman
