#include "data/unknown_tokens.h"

#include <algorithm>

#include "base/grouped.h"
#include "base/log.h"
#include "vocab/model_facts.h"

namespace dragoman {
namespace {

constexpr int64_t enough_tokens = 1000;

std::string advice(const EncodedSide& side) {
  if (side.given_pieces)
    return "--no-spm-encode is for text that is split into the pieces of the vocabulary (dragoman vocab encode); leave "
           "it out for plain text";
  const std::string type = facts_of(side.vocabulary.bytes()).type;
  if (type == "tokens" || type == "merges" || type == "word")
    return "it was made from text of other tokens: prepare this text in the same way (tokens, case, subwords), or use "
           "a vocabulary that was made from such text";
  return "it was made from text of another language or script: see that files and vocabularies are in the same order, "
         "source before target";
}

}  // namespace

void UnknownTokens::add(std::span<const int32_t> ids, int32_t unknown_id) {
  tokens += std::ssize(ids);
  unknown += std::ranges::count(ids, unknown_id);
}

void UnknownTokens::add(const UnknownTokens& more) {
  tokens += more.tokens;
  unknown += more.unknown;
}

std::array<EncodedSide, 2> encoded_sides(const std::array<std::string, 2>& texts,
                                         const std::array<Vocabulary, 2>& vocabularies,
                                         const std::vector<std::string>& vocabs, const std::string& model,
                                         bool given_pieces) {
  const auto side = [&](int s) {
    const std::string name = vocabs.empty() ? "the vocabulary of " + model : s == 0 ? vocabs.front() : vocabs.back();
    return EncodedSide{texts[size_t(s)] == "-" ? "stdin" : texts[size_t(s)], name, vocabularies[size_t(s)], s,
                       given_pieces};
  };
  return {side(0), side(1)};
}

void UnknownTokensWarning::during(const UnknownTokens& so_far) {
  if (so_far.tokens >= enough_tokens) at_end(so_far);
}

void UnknownTokensWarning::at_end(const UnknownTokens& all) {
  if (warned_ || all.unknown * 5 <= all.tokens) return;
  warned_ = true;
  log_warning("{} of {} {} tokens read from {} are unknown to {}: {}", grouped(all.unknown), grouped(all.tokens),
              side_.side == 0 ? "source" : "target", side_.text, side_.vocabulary_name, advice(side_));
}

}  // namespace dragoman
