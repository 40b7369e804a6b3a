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
#include "data/unknown_tokens.h"
#include "interop/open_model.h"

namespace dragoman {
namespace {

using Ids = std::vector<int32_t>;

constexpr int64_t block_pairs = 16384;  // that are encoded or written at a time

Vocabularies vocabularies_of(const AlignOptions& o) {
  if (!o.model.empty()) return outline_of(o.model).vocabularies;
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
      if (int64_t(block_.size()) == block_pairs) encode_into(pairs);
    }
    encode_into(pairs);
    warn_of_unknown();
    if (long_pairs_ > 0)
      log_warning("{} of {} pairs have more than {} pieces on a side and are skipped", grouped(long_pairs_),
                  grouped(pairs.size()), grouped(options_.max_length));
    return pairs;
  }

 private:
  Ids encode(const Vocabulary& vocabulary, const std::string& text) const {
    return options_.no_spm_encode ? vocabulary.encode_given_pieces(text) : vocabulary.encode(text);
  }

  void warn_of_unknown() const {
    const auto texts = text_pairs("train-sets", options_.train_sets, options_.tsv);
    const auto sides = encoded_sides(
        {side_name(texts, 0), side_name(texts, 1)}, {vocabularies_.source, vocabularies_.target},
        options_.model.empty() ? options_.vocabs : std::vector<std::string>(), options_.model, options_.no_spm_encode);
    for (const size_t side : {0, 1}) UnknownTokensWarning(sides[side]).at_end(unknown_[side]);
  }

  void encode_into(ParallelIds& pairs) {
    std::vector<std::array<Ids, 2>> ids(block_.size());
    parallel_items(int64_t(block_.size()), [&](int64_t i, int) {
      ids[i] = {encode(vocabularies_.source, block_[i][0]), encode(vocabularies_.target, block_[i][1])};
    });
    for (auto& [source, target] : ids) {
      unknown_[0].add(source, vocabularies_.source.unk()), unknown_[1].add(target, vocabularies_.target.unk());
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
  std::array<UnknownTokens, 2> unknown_;
};

/// `clock` runs since the command began.
void learn(Aligner& aligner, int iterations, const Clock& clock) {
  for (int i = 1; i <= iterations; ++i) {
    const double perplexity = aligner.iterate();
    log_info("Iteration {} of {}: perplexity {:.2f}, tension {:.2f}, {:.1f} s", i, iterations, perplexity,
             aligner.tension(), clock.seconds());
  }
}

void swap_sides(std::vector<TokenLink>& links) {
  for (auto& [source, target] : links) std::swap(source, target);
}

/// Calls links_of for each pair, on all threads, and writes the results in order.
template <class LinksOf>
void write_links(const std::string& path, int64_t pairs, const LinksOf& links_of) {
  write_lines_atomically(path, [&](LineWriter& out) {
    std::vector<std::string> lines;
    for (int64_t begin = 0; begin < pairs; begin += block_pairs) {
      lines.assign(size_t(std::min(block_pairs, pairs - begin)), "");
      parallel_items(int64_t(lines.size()), [&](int64_t i, int) {
        for (const auto& [source, target] : links_of(begin + i))
          lines[i] += fmt::format("{}{}-{}", lines[i].empty() ? "" : " ", source, target);
      });
      for (const std::string& line : lines) out.write(line);
    }
  });
}

void write_shortlist(const AlignOptions& options, const Aligner& aligner, const ParallelIds& pairs,
                     const Vocabularies& vocabularies) {
  const auto& [source, target] = vocabularies;
  const Shortlist shortlist = make_shortlist(aligner.table(), pairs, source, target, options);
  save_shortlist(options.shortlist, shortlist, source, target);
  log_info("Wrote {}: {} pieces for all sentences, {:.1f} per source piece", options.shortlist, shortlist.first.size(),
           double(shortlist.best.size()) / source.size());
}

void align_one_direction(const AlignOptions& options, const ParallelIds& pairs, const Vocabularies& vocabularies,
                         const Clock& clock) {
  Aligner aligner(pairs, options.reverse ? vocabularies.target.size() : vocabularies.source.size(), options);
  learn(aligner, options.iterations, clock);
  if (!options.output.empty())
    write_links(options.output, pairs.size(), [&](int64_t pair) {
      std::vector<TokenLink> links = aligner.align(pairs.source(pair), pairs.target(pair));
      if (options.reverse) swap_sides(links);
      return links;
    });
  if (!options.shortlist.empty()) write_shortlist(options, aligner, pairs, vocabularies);
}

/// For each piece of a sentence, the piece of the other sentence that it is aligned to, or -1.
using Origins = std::vector<int32_t>;

/// The origins of all targets. The aligner with its table is gone afterwards, so that there is only one at a time.
std::vector<Origins> origins_of_targets(const AlignOptions& options, const ParallelIds& pairs, int32_t vocabulary,
                                        const Clock& clock) {
  Aligner aligner(pairs, vocabulary, options);
  learn(aligner, options.iterations, clock);
  std::vector<Origins> origins(size_t(pairs.size()));
  parallel_items(pairs.size(), [&](int64_t pair, int) {
    origins[pair].assign(pairs.target(pair).size(), -1);
    for (const auto& [source, target] : aligner.align(pairs.source(pair), pairs.target(pair)))
      origins[pair][target] = int32_t(source);
  });
  return origins;
}

std::vector<TokenLink> links_of(const Origins& origins) {
  std::vector<TokenLink> links;
  for (size_t i = 0; i < origins.size(); ++i)
    if (origins[i] >= 0) links.push_back({origins[i], int64_t(i)});
  return links;
}

void align_both_directions(const AlignOptions& options, ParallelIds pairs, const Vocabularies& vocabularies,
                           const Clock& clock) {
  log_info("Aligning each target piece to a source piece");
  const std::vector<Origins> forward = origins_of_targets(options, pairs, vocabularies.source.size(), clock);
  pairs.swap_sides();
  log_info("Aligning each source piece to a target piece");
  Aligner aligner(pairs, vocabularies.target.size(), options);
  learn(aligner, options.iterations, clock);
  write_links(options.output, pairs.size(), [&](int64_t pair) {
    std::vector<TokenLink> reverse = aligner.align(pairs.source(pair), pairs.target(pair));
    swap_sides(reverse);
    return symmetrize(links_of(forward[pair]), reverse, options.symmetrize);
  });
}

}  // namespace

void align_text(const AlignOptions& options) {
  const Vocabularies vocabularies = vocabularies_of(options);
  const Clock clock;
  ParallelIds pairs = Reading(options, vocabularies).read();
  require(options.shortlist.empty() || pairs.size() > 0, "--shortlist: {} has no pairs to learn from",
          text_name(text_pairs("train-sets", options.train_sets, options.tsv)));
  if (options.symmetrize == Symmetrization::none)
    align_one_direction(options, pairs, vocabularies, clock);
  else
    align_both_directions(options, std::move(pairs), vocabularies, clock);
}

}  // namespace dragoman
