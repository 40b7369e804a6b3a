#include "align/align_text.h"

#include "align/aligner.h"
#include "align/shortlist.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/grouped.h"
#include "base/line_writer.h"
#include "base/log.h"
#include "base/threads.h"
#include "data/parallel_text.h"
#include "interop/open_model.h"

namespace dragoman {
namespace {

using Ids = std::vector<int32_t>;

Vocabularies vocabularies_of(const AlignOptions& o) {
  if (!o.model.empty()) return open_model(o.model).vocabularies();
  return {Vocabulary::load(o.vocabs[0]), Vocabulary::load(o.vocabs[1])};
}

/// Reads and encodes text, one block at a time. A pair that is too long becomes a pair of empty sentences.
class Reading {
 public:
  Reading(const AlignOptions& options, const Vocabularies& vocabularies)
      : options_(options), vocabularies_(vocabularies) {}

  ParallelIds read() {
    ParallelReader reader(text_pairs("train-sets", options_.train_sets, options_.tsv));
    ParallelIds pairs;
    for (std::array<std::string, 2> pair; reader.next(pair);) {
      block_.push_back(std::move(pair));
      if (block_.size() == block_pairs) encode_into(pairs);
    }
    encode_into(pairs);
    if (long_pairs_ > 0)
      log_warning("{} of {} pairs have more than {} pieces on a side and are skipped", grouped(long_pairs_),
                  grouped(pairs.size()), grouped(options_.max_length));
    return pairs;
  }

 private:
  static constexpr size_t block_pairs = 16384;

  Ids encode(const Vocabulary& vocabulary, const std::string& text) const {
    return options_.no_spm_encode ? vocabulary.encode_given_pieces(text) : vocabulary.encode(text);
  }

  void encode_into(ParallelIds& pairs) {
    std::vector<std::array<Ids, 2>> ids(block_.size());
    parallel_items(int64_t(block_.size()), [&](int64_t i, int) {
      ids[i] = {encode(vocabularies_.source, block_[i][0]), encode(vocabularies_.target, block_[i][1])};
    });
    for (auto& [source, target] : ids) {
      if (std::max(source.size(), target.size()) > size_t(options_.max_length)) {
        ++long_pairs_;
        source.clear(), target.clear();
      }
      options_.reverse ? pairs.add(target, source) : pairs.add(source, target);
    }
    block_.clear();
  }

  const AlignOptions& options_;
  const Vocabularies& vocabularies_;
  std::vector<std::array<std::string, 2>> block_;
  int64_t long_pairs_ = 0;
};

std::string links_of(const Aligner& aligner, const ParallelIds& pairs, int64_t pair, bool reverse) {
  std::string line;
  for (const auto& [source, target] : aligner.align(pairs.source(pair), pairs.target(pair)))
    line += fmt::format("{}{}-{}", line.empty() ? "" : " ", reverse ? target : source, reverse ? source : target);
  return line;
}

void write_links(const AlignOptions& options, const Aligner& aligner, const ParallelIds& pairs) {
  LineWriter out(options.output);
  for (int64_t pair = 0; pair < pairs.size(); ++pair) out.write(links_of(aligner, pairs, pair, options.reverse));
  out.close();
}

void write_shortlist(const AlignOptions& options, const Aligner& aligner, const ParallelIds& pairs,
                     const Vocabularies& vocabularies) {
  const auto& [source, target] = vocabularies;
  const Shortlist shortlist = make_shortlist(aligner.table(), pairs, source, target, options);
  save_shortlist(options.shortlist, shortlist, source, target);
  log_info("Wrote {}: {} pieces for all sentences, {:.1f} per source piece", options.shortlist, shortlist.first.size(),
           double(shortlist.best.size()) / source.size());
}

}  // namespace

void align_text(const AlignOptions& options) {
  const Vocabularies vocabularies = vocabularies_of(options);
  const Clock clock;
  const ParallelIds pairs = Reading(options, vocabularies).read();
  require(options.shortlist.empty() || pairs.size() > 0, "--shortlist: {} has no pairs to learn from",
          text_name(text_pairs("train-sets", options.train_sets, options.tsv)));
  Aligner aligner(pairs, options.reverse ? vocabularies.target.size() : vocabularies.source.size(), options);
  for (int i = 1; i <= options.iterations; ++i) {
    const double perplexity = aligner.iterate();
    log_info("Iteration {} of {}: perplexity {:.2f}, tension {:.2f}, {:.1f} s", i, options.iterations, perplexity,
             aligner.tension(), clock.seconds());
  }
  if (!options.output.empty()) write_links(options, aligner, pairs);
  if (!options.shortlist.empty()) write_shortlist(options, aligner, pairs, vocabularies);
}

}  // namespace dragoman
