#include "data/corpus.h"

#include <future>

#include "base/error.h"
#include "base/grouped.h"
#include "base/line_reader.h"
#include "base/philox.h"
#include "data/pairs.h"

namespace dragoman {
namespace {

// Lines that are encoded together. With sampling it decides which random numbers a line meets: leave it.
constexpr int64_t block_lines = 1000;

// FNV-1a of 64 bits (Fowler, Noll, Vo): short, and the same on every machine.
class Fingerprint {
 public:
  void add(std::string_view bytes) {
    for (const char byte : bytes) add_byte(byte);
    add_byte('\n');  // so that "ab", "c" differs from "a", "bc"
  }
  uint64_t value() const { return hash_; }

 private:
  void add_byte(char byte) { hash_ = (hash_ ^ uint8_t(byte)) * 0x100000001b3; }

  uint64_t hash_ = 0xcbf29ce484222325;
};

// All lines of one file. Lines that are too long keep only their number of pieces.
struct Side {
  Sentences sentences;
  std::vector<int32_t> pieces;  // of each line, </s> not counted
  CorpusReport::InvalidUtf8 invalid;
  Fingerprint text;
};

class SideReader {
 public:
  SideReader(const CorpusFiles& files, int side, int64_t epoch)
      : files_(files), vocabulary_(files.vocabularies[side]), side_(side), epoch_(epoch), reader_(files.paths[side]) {}

  Side read(std::stop_token stop) {
    for (int64_t block = 0; read_block(); ++block) {
      if (stop.stop_requested()) fail("{}: reading was stopped", reader_.name());
      for (const auto& ids : encode(block)) append(ids);
    }
    result_.invalid = {reader_.invalid_lines(), reader_.first_invalid_line()};
    return std::move(result_);
  }

 private:
  bool read_block() {
    lines_.clear();
    for (std::string line; int64_t(lines_.size()) < block_lines && reader_.next(line);) {
      result_.text.add(line);
      lines_.push_back(std::move(line));
    }
    return !lines_.empty();
  }

  std::vector<std::vector<int32_t>> encode(int64_t block) const {
    if (files_.alphas[side_] != 0) return vocabulary_.encode_block(lines_, files_.alphas[side_], block_seed(block));
    std::vector<std::vector<int32_t>> ids;
    for (const std::string& line : lines_)
      ids.push_back(files_.given_pieces ? vocabulary_.encode_given_pieces(line) : vocabulary_.encode(line));
    return ids;
  }

  uint64_t block_seed(int64_t block) const {
    const PhiloxKey key = {uint32_t(files_.seed), uint32_t(files_.seed >> 32)};
    const auto numbers = philox({uint32_t(block), uint32_t(block >> 32), uint32_t(epoch_), uint32_t(side_)}, key);
    return uint64_t{numbers[0]} << 32 | numbers[1];
  }

  void append(const std::vector<int32_t>& ids) {
    Sentences& s = result_.sentences;
    result_.pieces.push_back(int32_t(ids.size()));
    if (int64_t(ids.size()) <= files_.max_length) {
      s.ids.insert(s.ids.end(), ids.begin(), ids.end());
      s.ids.push_back(vocabulary_.eos());
    }
    s.offsets.push_back(int64_t(s.ids.size()));
  }

  const CorpusFiles& files_;
  const Vocabulary& vocabulary_;
  const int side_;
  const int64_t epoch_;
  LineReader reader_;
  std::vector<std::string> lines_;  // of the present block
  Side result_;
};

std::array<Side, 2> read_sides(const CorpusFiles& files, int64_t epoch, std::stop_token stop) {
  SideReader source(files, 0, epoch), target(files, 1, epoch);  // both open before either is read
  auto source_side = std::async(std::launch::async, [&] { return source.read(stop); });
  Side target_side = target.read(stop);
  return {source_side.get(), std::move(target_side)};
}

// Moves the sentences of the lines that stay to the front.
Sentences keep(Sentences all, const std::vector<int32_t>& lines) {
  Sentences kept;
  int64_t end = 0;
  for (int32_t line : lines) {
    const auto sentence = all[line];
    std::copy(sentence.begin(), sentence.end(), all.ids.begin() + end);
    kept.offsets.push_back(end += int64_t(sentence.size()));
  }
  all.ids.resize(end);
  kept.ids = std::move(all.ids);
  return kept;
}

void select_pairs(Corpus& corpus, std::array<Side, 2>& sides) {
  CorpusReport& report = corpus.report;
  report.lines = int64_t(sides[0].pieces.size());
  for (int64_t i = 0; i < report.lines; ++i) {
    const int source = sides[0].pieces[i], target = sides[1].pieces[i];
    if (source == 0 || target == 0)
      ++report.dropped_empty;
    else if (std::max(source, target) > report.max_length)
      ++report.dropped_long;
    else
      corpus.lines.push_back(int32_t(i));
  }
  corpus.source = keep(std::move(sides[0].sentences), corpus.lines);
  corpus.target = keep(std::move(sides[1].sentences), corpus.lines);
  report.kept = corpus.size();
  report.tokens = {int64_t(corpus.source.ids.size()), int64_t(corpus.target.ids.size())};
}

// What decides the ids of every epoch: so it is the same for all epochs of a run.
uint64_t fingerprint(const CorpusFiles& files, const std::array<Side, 2>& sides) {
  Fingerprint all;
  for (int side : {0, 1}) {
    all.add(fmt::to_string(sides[side].text.value()));
    all.add(files.vocabularies[side].bytes());
  }
  all.add(fmt::format("{} {} {} {}", files.alphas[0], files.alphas[1], files.given_pieces, files.max_length));
  return all.value();
}

void require_pairs(const CorpusReport& report) {
  if (report.kept > 0) return;
  throw Error(fmt::format("no sentence pair is left\n  {}", report.summary()),
              report.dropped_long > 0 ? "raise --max-length" : "both files need text on the same lines");
}

}  // namespace

CorpusFiles training_files(const DataOptions& options, const Vocabulary& source, const Vocabulary& target,
                           uint64_t seed) {
  const auto& [sets, alphas] = std::tie(options.train_sets, options.sentencepiece_alphas);
  require(sets.size() == 2, "--train-sets names {} files, expected 2: source and target", sets.size());
  require(alphas.size() <= 2, "--sentencepiece-alphas has {} values, expected one for both sides or one each",
          alphas.size());
  CorpusFiles files{.paths = {sets[0], sets[1]}, .vocabularies = {source, target}};
  if (!alphas.empty()) files.alphas = {alphas.front(), alphas.back()};
  files.given_pieces = options.no_spm_encode;
  files.max_length = options.max_length;
  files.seed = seed;
  require(!(files.sampled() && files.given_pieces),
          "--no-spm-encode with --sentencepiece-alphas: text that is already pieces cannot be sampled");
  const int from_stdin = (sets[0] == "-") + (sets[1] == "-");
  require(from_stdin < 2, "--train-sets - -: only one side can come from stdin");
  require(!(files.sampled() && from_stdin),
          "--train-sets - with --sentencepiece-alphas: sampling reads the text anew in every epoch, so it needs files");
  return files;
}

std::string CorpusReport::summary() const {
  std::string text = fmt::format("{} and {}: {} lines, {} pairs kept with {} source and {} target tokens", paths[0],
                                 paths[1], grouped(lines), grouped(kept), grouped(tokens[0]), grouped(tokens[1]));
  if (dropped_empty) text += fmt::format("; {} dropped with an empty side", grouped(dropped_empty));
  if (dropped_long) text += fmt::format("; {} dropped with more than {} pieces", grouped(dropped_long), max_length);
  return text;
}

std::shared_ptr<const Corpus> read_corpus(const CorpusFiles& files, int64_t epoch, std::stop_token stop) {
  auto sides = read_sides(files, epoch, stop);
  require_paired(files.paths, {sides[0].pieces, sides[1].pieces});
  auto corpus = std::make_shared<Corpus>();
  corpus->files = files;
  corpus->epoch = epoch;
  corpus->fingerprint = fingerprint(files, sides);
  corpus->report.paths = files.paths;
  corpus->report.max_length = files.max_length;
  corpus->report.invalid_utf8 = {sides[0].invalid, sides[1].invalid};
  select_pairs(*corpus, sides);
  require_pairs(corpus->report);
  return corpus;
}

}  // namespace dragoman
