#include "data/corpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <limits>
#include <ranges>

#include "base/error.h"
#include "base/file.h"
#include "base/fingerprint.h"
#include "base/grouped.h"
#include "base/log.h"
#include "base/new_thread.h"
#include "base/philox.h"
#include "base/threads.h"
#include "comm/machine_ranks.h"
#include "data/id_pairs.h"
#include "data/memory_budget.h"
#include "data/shared_corpus.h"

namespace dragoman {
namespace {

// Must not change: with sampling, it determines the random numbers of a line.
constexpr int64_t block_lines = 1000;

// Lines that are encoded together.
struct Block {
  std::array<std::vector<std::string>, 2> sides;
  std::vector<float> weights;
  std::vector<LinkLine> links;
  double planned = 0;  // how often its pairs occur in an epoch
  double share = -1;   // of the text, up to the end of the block; -1: unknown
};

// The lines of a block as ids, without ends of sentences.
using Encoded = std::vector<std::vector<int32_t>>;

template <class T>
std::string_view as_bytes(const std::vector<T>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(T)};
}

class SideEncoder {
 public:
  SideEncoder(const CorpusFiles& files, int side, int64_t epoch)
      : files_(files), vocabulary_(files.vocabularies[side]), side_(side), epoch_(epoch) {}

  // May be called for several blocks at once.
  Encoded encode(const std::vector<std::string>& lines, int64_t block) const {
    if (files_.alphas[side_] != 0) return vocabulary_.encode_block(lines, files_.alphas[side_], block_seed(block));
    Encoded ids;
    for (const std::string& line : lines)
      ids.push_back(files_.given_pieces ? vocabulary_.encode_given_pieces(line) : vocabulary_.encode(line));
    return ids;
  }

  // In the order of the text.
  void add_to_fingerprint(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) text_.add(line);
  }
  uint64_t fingerprint() const { return text_.value(); }  // of the text so far

 private:
  uint64_t block_seed(int64_t block) const {
    const PhiloxKey key = {uint32_t(files_.seed), uint32_t(files_.seed >> 32)};
    const auto numbers = philox({uint32_t(block), uint32_t(block >> 32), uint32_t(epoch_), uint32_t(side_)}, key);
    return uint64_t{numbers[0]} << 32 | numbers[1];
  }

  const CorpusFiles& files_;
  const Vocabulary& vocabulary_;
  const int side_;
  const int64_t epoch_;
  Fingerprint text_;
};

// Several blocks are encoded at once, one thread for each side of a block, while the next blocks are read.
class CorpusReader {
 public:
  // Reads `text` up to its end, or of a stream the lines of a part.
  CorpusReader(const CorpusFiles& files, int64_t epoch, Corpus& corpus, ParallelReader& text)
      : corpus_(corpus),
        text_(text),
        end_(files.stream ? text.lines() + files.stream->part_lines : std::numeric_limits<int64_t>::max()),
        source_(files, 0, epoch),
        target_(files, 1, epoch) {}

  void read(std::stop_token stop) {
    int64_t number = 0;  // of the first block
    for (std::vector<Block> blocks = read_blocks(stop); !blocks.empty();) {
      const auto read = with_log([&] { return read_blocks(stop); });
      auto next = new_thread([&] { return std::async(std::launch::async, read); });
      std::vector<std::array<std::future<Encoded>, 2>> encoded;
      for (const Block& block : blocks) encoded.push_back(begin_encoding(block, number++));
      for (size_t b = 0; b < blocks.size(); ++b) add(blocks[b], encoded[b][0].get(), encoded[b][1].get());
      blocks = next.get();
    }
    corpus_.pairs.flush();
    if (corpus_.files.stream)
      corpus_.ends = {corpus_.size()};
    else
      set_ends(corpus_, text_.ends());
    if (corpus_.pairs.in_file()) {
      corpus_.report.folder = corpus_.files.tempdir;
      corpus_.report.file_bytes = corpus_.pairs.record_bytes();
    }
    corpus_.report.kept = corpus_.size();
    corpus_.report.tokens = {corpus_.pairs.source_tokens(), corpus_.pairs.target_tokens()};
    corpus_.report.invalid_utf8 = {text_.invalid(0), text_.invalid(1)};
  }

  // Error if there is nothing to learn from.
  void require_use() const {
    const CorpusReport& report = corpus_.report;
    if (report.kept == 0)
      throw Error(fmt::format("no sentence pair is left\n  {}", report.summary()),
                  report.dropped_long > 0
                      ? "raise --max-length"
                      : "pairs with an empty side are skipped: are the lines of both files aligned?");
    require(counts_, "--data-weighting: the weights of all pairs are 0, expected one above 0");
    if (corpus_.pairs.linked() && report.links == 0)
      throw Error("--guided-alignment: no pair has a link, so attention would learn none",
                  "dragoman align -v VOCAB VOCAB prints links; or leave the option out");
  }

  // Of source, target and, if there are any, weights and links.
  std::vector<uint64_t> fingerprints() const {
    std::vector<uint64_t> all = {source_.fingerprint(), target_.fingerprint()};
    if (corpus_.pairs.weighted() || corpus_.pairs.linked()) all.push_back(extras_.value());
    return all;
  }

 private:
  // As many as keep all threads busy, with two threads per block; fewer at the end of the text.
  std::vector<Block> read_blocks(const std::stop_token& stop) {
    std::vector<Block> blocks;
    while (int(blocks.size()) < (threads_ + 1) / 2) {
      Block block = read_block(stop);
      if (block.weights.empty()) break;
      blocks.push_back(std::move(block));
    }
    return blocks;
  }

  Block read_block(const std::stop_token& stop) {
    Block block;
    const int64_t end = std::min(end_, text_.lines() + block_lines);
    for (std::array<std::string, 2> pair; text_.lines() < end && read_pair(pair, stop);) {
      for (int side : {0, 1}) block.sides[side].push_back(std::move(pair[side]));
      block.weights.push_back(text_.weight());
      block.links.push_back(text_.take_links());
      const auto& weights = corpus_.files.weights;
      block.planned += weights.empty() ? 1 : weights[text_.ends().size()];
    }
    if (!corpus_.files.stream) block.share = text_.share();
    return block;
  }

  bool read_pair(std::array<std::string, 2>& pair, const std::stop_token& stop) {
    if (!text_.wait(stop) || stop.stop_requested()) fail("{}: reading was stopped", corpus_.report.name);
    return text_.next(pair);
  }

  std::array<std::future<Encoded>, 2> begin_encoding(const Block& block, int64_t number) const {
    const auto begin = [&](const SideEncoder& encoder, const std::vector<std::string>& lines) {
      const auto work = [&encoder, &lines, number] { return encoder.encode(lines, number); };
      return new_thread([&] { return std::async(std::launch::async, work); });
    };
    return {begin(source_, block.sides[0]), begin(target_, block.sides[1])};
  }

  void add(Block& block, Encoded source, Encoded target) {
    source_.add_to_fingerprint(block.sides[0]);
    target_.add_to_fingerprint(block.sides[1]);
    if (corpus_.pairs.weighted()) extras_.add(as_bytes(block.weights));
    for (size_t i = 0; corpus_.pairs.linked() && i < source.size(); ++i) extras_.add(as_bytes(block.links[i].links));
    for (size_t i = 0; i < source.size(); ++i) add(source[i], target[i], block.weights[i], std::move(block.links[i]));
    budget_.keep(corpus_, block.planned, block.share);
  }

  void add(std::vector<int32_t>& source, std::vector<int32_t>& target, float weight, LinkLine links) {
    links.require_tokens(int64_t(source.size()) + 1, int64_t(target.size()) + 1);
    CorpusReport& report = corpus_.report;
    const int64_t line = report.lines++;
    require(line <= std::numeric_limits<int32_t>::max(), "{}: more than 2^31 lines", report.name);
    const bool empty = source.empty() || target.empty();
    if (corpus_.files.crops && !empty) report.cropped += crop(source, target, links.links, report.max_length);
    if (empty) {
      ++report.dropped_empty;
    } else if (int64_t(std::max(source.size(), target.size())) > report.max_length) {
      ++report.dropped_long;
    } else {
      const auto& vocabularies = corpus_.files.vocabularies;
      report.unknown[0].add(source, vocabularies[0].unk()), report.unknown[1].add(target, vocabularies[1].unk());
      const auto sources = corpus_.files.framed(0, std::move(source)),
                 targets = corpus_.files.framed(1, std::move(target));
      corpus_.pairs.add({int32_t(line), sources, targets, weight, corpus_.files.framed(links.links)});
      counts_ |= weight > 0;
      report.links += int64_t(links.links.size());
    }
  }

  Corpus& corpus_;
  const int threads_ = thread_count();
  ParallelReader& text_;
  const int64_t end_;  // of the lines to read
  SideEncoder source_, target_;
  Fingerprint extras_;  // weights and links
  MemoryBudget budget_;
  bool counts_ = false;  // the weight of some pair is above 0
};

// Covers all that determines ids, so it is the same for all epochs of a run.
uint64_t fingerprint(const CorpusFiles& files, const std::vector<uint64_t>& texts) {
  Fingerprint all;
  for (int side : {0, 1}) {
    all.add(fmt::to_string(texts[side]));
    all.add(files.vocabularies[side].bytes());
  }
  if (texts.size() > 2) all.add(fmt::to_string(texts[2]));
  all.add(fmt::format("{} {} {} {}", files.alphas[0], files.alphas[1], files.given_pieces, files.max_length));
  if (files.crops) all.add("crop");
  for (const int side : {0, 1}) {
    const std::vector<int32_t> empty = files.framed(side, {});  // runs of older versions had </s> alone
    if (empty != std::vector{files.vocabularies[size_t(side)].eos()}) all.add(fmt::format("{}", fmt::join(empty, " ")));
  }
  return all.value();
}

// Reads past the parts before this one; false if the text ends before it.
bool skip_to(TextStream& stream, int64_t part, const std::stop_token& stop) {
  const int64_t line = part * stream.part_lines;
  for (std::array<std::string, 2> pair; stream.text->lines() < line;)
    if (!stream.text->wait(stop) || !stream.text->next(pair)) return false;
  return true;
}

// The next part of a stream from `epoch` on, or all of the text; null at the end of the stream.
std::shared_ptr<Corpus> read_text(const CorpusFiles& files, int64_t epoch, const std::stop_token& stop) {
  std::optional<ParallelReader> own;
  std::optional<ParallelReader>& text = files.stream ? files.stream->text : own;
  if (!text) text.emplace(files.texts);
  if (files.stream && !skip_to(*files.stream, epoch, stop)) return nullptr;
  const int64_t lines = text->lines();
  auto corpus = std::make_shared<Corpus>();
  corpus->files = files;
  corpus->epoch = epoch;
  corpus->pairs = PairStore(files.weighted(), files.linked());
  corpus->report.name = text_name(files.texts);
  corpus->report.max_length = files.max_length;
  CorpusReader reader(files, epoch, *corpus, *text);
  reader.read(stop);
  if (files.stream && epoch > 0) {
    if (text->lines() == lines) return nullptr;
  } else {
    reader.require_use();
  }
  corpus->fingerprint = fingerprint(files, reader.fingerprints());
  return corpus;
}

// The next part of a stream, as one of the ranks that share it.
std::shared_ptr<const Corpus> read_part(const CorpusFiles& files, int64_t part, const std::stop_token& stop) {
  if (is_shared(files) && !files.machine->first()) return given_corpus(files, part, stop);
  auto corpus = read_text(files, part, stop);
  if (is_shared(files)) corpus ? give(*corpus) : give_end(files);
  if (corpus) log_info("Epoch {}: {}", files.stream->first_epoch + part + 1, corpus->report.summary());
  return corpus;
}

}  // namespace

std::vector<int32_t> CorpusFiles::framed(int side, std::vector<int32_t> pieces) const {
  if (frames) return (side == 0 ? frames->source : frames->target).around(std::move(pieces));
  pieces.push_back(vocabularies[size_t(side)].eos());
  return pieces;
}

std::vector<TokenLink> CorpusFiles::framed(std::vector<TokenLink> links) const {
  if (!frames) return links;
  for (TokenLink& link : links) {
    link.source += int64_t(frames->source.before.size());
    link.target += int64_t(frames->target.before.size());
  }
  return links;
}

void require_weights(const std::vector<double>& weights, size_t corpora) {
  require(weights.empty() || weights.size() == corpora,
          "--corpus-weights has {} numbers, --train-sets {} corpora, expected one for each", weights.size(), corpora);
  require(weights.empty() || std::ranges::any_of(weights, [](double w) { return w > 0; }),
          "--corpus-weights are all 0, expected at least one above 0");
}

std::vector<TextPair> training_texts(const DataOptions& options) {
  std::vector<TextPair> texts = text_pairs("train-sets", options.train_sets, options.tsv);
  add_notes(texts, options.data_weighting, options.guided_alignment);
  return texts;
}

CorpusFiles training_files(const DataOptions& options, const Vocabulary& source, const Vocabulary& target,
                           uint64_t seed) {
  const auto& alphas = options.sentencepiece_alphas;
  require(alphas.size() <= 2, "--sentencepiece-alphas has {} values, expected one for both sides or one each",
          alphas.size());
  CorpusFiles files{.texts = training_texts(options), .vocabularies = {source, target}};
  require_weights(options.corpus_weights, files.texts.size());
  if (options.stream > 0) files.stream = std::make_shared<TextStream>(TextStream{.part_lines = options.stream});
  files.links_weight = options.guided_alignment_weight;
  files.weights = options.corpus_weights;
  files.ram = options.ram.bytes;
  files.tempdir = options.tempdir.empty() ? temporary_folder() : options.tempdir;
  if (!alphas.empty()) files.alphas = {alphas.front(), alphas.back()};
  files.given_pieces = options.no_spm_encode;
  files.max_length = options.max_length;
  files.crops = options.max_length_crop;
  files.seed = seed;
  require(files.max_length < PairStore::longest, "--max-length {} is out of range, expected less than {}",
          files.max_length, PairStore::longest);
  require(!(files.sampled() && files.linked()),
          "--guided-alignment with --sentencepiece-alphas: links are of the pieces of one segmentation");
  require(!(files.sampled() && files.given_pieces),
          "--no-spm-encode with --sentencepiece-alphas: text that is already split into pieces cannot be sampled");
  require(!(files.sampled() && !files.stream && std::ranges::any_of(files_of(files.texts), is_pipe)),
          "--sentencepiece-alphas reads the text again in every epoch, so a pipe needs --stream");
  require(!(files.stream && !files.weights.empty()),
          "--corpus-weights with --stream: text that is read once has no pair twice");
  return files;
}

CorpusFiles with_sampled_copies(CorpusFiles files) {
  if (!files.sampled() || files.weights.empty()) return files;
  std::vector<TextPair> texts;
  std::vector<double> weights;
  for (size_t c = 0; c < files.texts.size(); ++c) {
    double rest = files.weights[c];
    for (bool again = false; !again || rest > 0; again = true, --rest) {
      texts.push_back(files.texts[c]);
      texts.back().again = again;
      weights.push_back(std::min(rest, 1.0));
    }
  }
  files.texts = std::move(texts);
  files.weights = std::move(weights);
  return files;
}

std::string CorpusReport::summary() const {
  std::string text = fmt::format("{}: {} lines, {} pairs kept with {} source and {} target tokens", name,
                                 grouped(lines), grouped(kept), grouped(tokens[0]), grouped(tokens[1]));
  if (links) text += fmt::format(" and {} links", grouped(links));
  if (unknown[0].unknown + unknown[1].unknown > 0)
    text += fmt::format("; {} source and {} target tokens unknown", grouped(unknown[0].unknown),
                        grouped(unknown[1].unknown));
  if (dropped_empty) text += fmt::format("; {} dropped with an empty side", grouped(dropped_empty));
  if (dropped_long) text += fmt::format("; {} dropped with more than {} pieces", grouped(dropped_long), max_length);
  if (cropped) text += fmt::format("; {} cropped to {} pieces", grouped(cropped), max_length);
  if (file_bytes > 0)
    text += fmt::format("; {:.1f} MiB of ids in a temporary file in {}", double(file_bytes) / (1 << 20), folder);
  return text;
}

void set_ends(Corpus& corpus, const std::vector<int64_t>& lines) {
  corpus.ends.clear();
  for (const int64_t line : lines) {
    const auto before = [&](int64_t pair) { return corpus.pairs[pair].line < line; };
    corpus.ends.push_back(*std::ranges::partition_point(std::views::iota(int64_t{0}, corpus.size()), before));
  }
}

std::shared_ptr<const Corpus> read_corpus(const CorpusFiles& files, int64_t epoch, std::stop_token stop) {
  if (is_shared(files) && !files.machine->first()) return given_corpus(files, epoch, stop);
  auto corpus = read_text(files, epoch, stop);
  if (is_shared(files)) give(*corpus);
  return corpus;
}

std::shared_ptr<const Corpus> for_epoch(std::shared_ptr<const Corpus> corpus, int64_t epoch, std::stop_token stop) {
  if (const auto& stream = corpus->files.stream) {
    const int64_t part = epoch - stream->first_epoch;
    return part == corpus->epoch ? corpus : read_part(corpus->files, part, stop);
  }
  if (!corpus->files.sampled() || corpus->epoch == epoch) return corpus;
  auto again = read_corpus(corpus->files, epoch, stop);
  if (again->fingerprint != corpus->fingerprint)
    throw Error(fmt::format("{}: the training text changed during the run", corpus->report.name),
                "--sentencepiece-alphas reads it again in every epoch: leave it as it is until the run ends; the same "
                "command resumes with the text that is there now, at the beginning of the epoch");
  return again;
}

}  // namespace dragoman
