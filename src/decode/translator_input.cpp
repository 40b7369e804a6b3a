#include <algorithm>

#include "base/utf8.h"
#include "decode/split.h"
#include "decode/translator.h"
#include "interop/languages.h"

// What a translator makes of the text that it reads.
namespace dragoman {
namespace {

// Not every vocabulary ignores all of these characters.
bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\v\f\r") == std::string_view::npos; }

// The fields of a line, with tabs between them.
class Fields {
 public:
  explicit Fields(std::string_view line) : rest_(line) {}
  std::string_view next() {
    const size_t tab = rest_.find('\t');
    const std::string_view field = rest_.substr(0, tab);
    rest_.remove_prefix(tab == std::string_view::npos ? rest_.size() : tab + 1);
    return field;
  }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

// A copy of leading_tags().
std::vector<int32_t> tags_of(const Vocabulary& vocabulary, std::span<const int32_t> source) {
  const auto tags = leading_tags(vocabulary, source);
  return {tags.begin(), tags.end()};
}

// Where the text of the first tokens ends.
size_t end_of(std::span<const ByteRange> ranges, size_t tokens) {
  size_t end = 0;
  for (const ByteRange& range : ranges.first(tokens)) end = std::max(end, range.end);
  return end;
}

}  // namespace

void Translator::encode_chunk(Chunk& chunk) const {
  clean_utf8(chunk.text);
  const bool has_phrases = options_.constraints != LineConstraints::none;
  Fields fields(chunk.text);
  const std::string_view source = options_.has_fields() ? fields.next() : fields.rest();
  chunk.source = ids_of(vocabularies_.source, source);
  if (options_.force_decode) chunk.prefix = ids_of(vocabularies_.target, has_phrases ? fields.next() : fields.rest());
  chunk.phrases.ordered = options_.constraints == LineConstraints::ordered;
  while (has_phrases && !fields.rest().empty())
    if (Phrase found = phrase(fields.next()); !found.empty()) chunk.phrases.all.push_back(std::move(found));
  if (glossary_)
    chunk.terms = behind_tags(glossary_->find(source), source, leading_tags(vocabularies_.source, chunk.source).size());
  chunk.text.resize(source.size());
}

std::vector<Sentence> Translator::sentences_of(Chunk chunk) {
  auto& ids = chunk.source;
  unknown_.add(ids, vocabularies_.source.unk());
  if (segment_ == 0) tags_ = tags_of(vocabularies_.source, ids);
  const size_t added = begin_with(tags_, ids);
  if (!ids.empty() && takes_language_ && !without_language_ && !name_language(vocabularies_.source, tags_))
    without_language_ = line_;
  const bool has_phrases = !chunk.phrases.empty();
  warn_of_prefix(chunk.prefix);
  if (std::ranges::find(chunk.prefix, vocabularies_.target.unk()) != chunk.prefix.end()) warn_of_unknown_prefix();
  auto sentences = segments_of(ids, added, std::move(chunk.prefix), std::move(chunk.phrases), line_, segment_, {});
  warn_of_terms(require_terms(chunk.terms, chunk.text, sentences));
  if (sentences.size() > 1) warn_of_segments(ids.size());
  if (sentences.size() > 1 && has_phrases) warn_of_phrases();
  warn_of_length(std::min(ids.size(), size_t(longest_segment(frames_))));
  segment_ += sentences.size();
  return sentences;
}

// `added`: how many pieces at the beginning of the source its text lacks.
std::vector<Sentence> Translator::segments_of(const std::vector<int32_t>& source, size_t added,
                                              std::vector<int32_t> prefix, Phrases phrases, uint64_t line,
                                              uint64_t first_segment,
                                              const std::shared_ptr<const SentenceFrames>& frames) const {
  const int longest = longest_segment(frames ? *frames : frames_);
  auto segments = split_long(vocabularies_.source, source, longest);
  if (segments.empty() && !(prefix.empty() && phrases.empty())) segments.emplace_back();
  std::vector<Sentence> sentences;
  const size_t repeated = repeated_tags(vocabularies_.source, source, longest);
  for (auto& segment : segments)
    sentences.push_back({.source = std::move(segment),
                         .line = line,
                         .segment = first_segment++,
                         .repeated = repeated,
                         .frames = frames});
  if (sentences.empty()) return sentences;
  sentences[0].repeated = 0;
  for (Sentence& sentence : sentences) {  // what is added may take more than one segment
    const size_t here = std::min(added, sentence.source.size());
    if (here == 0) break;
    sentence.repeated = std::max(sentence.repeated, here), added -= here;
  }
  sentences[0].prefix = std::move(prefix);
  sentences[0].phrases = std::move(phrases);
  return sentences;
}

std::vector<Glossary::Found> Translator::terms_of(const TextRequest& request, size_t tags) const {
  if (request.glossary) return behind_tags(request.glossary->find(request.text, glossary_), request.text, tags);
  if (!glossary_) return {};
  return behind_tags(glossary_->find(request.text), request.text, tags);
}

// The terms without those in the first tokens of the text, which are tags: "por" in >>por<< is no word of it.
std::vector<Glossary::Found> Translator::behind_tags(std::vector<Glossary::Found> terms, std::string_view text,
                                                     size_t tags) const {
  if (terms.empty() || tags == 0) return terms;
  const size_t end = end_of(vocabularies_.source.encode_with_offsets(text).ranges, tags);
  std::erase_if(terms, [&](const Glossary::Found& term) { return term.begin < end; });
  return terms;
}

// The segment of a term is the one with its first token. A text that repeats terms would take time and memory without
// bounds. Returns the terms that are left out.
std::vector<Glossary::Found> Translator::require_terms(std::span<const Glossary::Found> terms, std::string_view text,
                                                       std::span<Sentence> sentences) const {
  std::vector<Glossary::Found> left_out;
  if (terms.empty() || sentences.empty()) return left_out;
  std::vector<ByteRange> ranges;
  if (sentences.size() > 1) ranges = ranges_of(text, sentences);
  auto term = terms.begin();
  size_t token = 0;
  for (Sentence& sentence : sentences) {
    token += sentence.source.size();
    const bool last = &sentence == &sentences.back();
    size_t left = most_pieces_of_terms;
    for (; term != terms.end() && (last || term->begin < end_of(ranges, token)); ++term) {
      if (term->phrase->size() > left) {
        left_out.push_back(*term);
        continue;
      }
      left -= term->phrase->size();
      sentence.phrases.all.push_back(*term->phrase);
    }
  }
  return left_out;
}

// Gives the tags of a whole line or text to a part of it. One with tags of its own has no others, unless they name no
// language and those of the whole do. Returns the number of pieces that are added.
size_t Translator::begin_with(std::span<const int32_t> tags, std::vector<int32_t>& source) const {
  if (tags.empty() || source.empty()) return 0;
  const auto own = leading_tags(vocabularies_.source, source);
  const bool lacks_language = name_language(vocabularies_.source, tags) && !name_language(vocabularies_.source, own);
  if (!own.empty() && !lacks_language) return 0;
  source.insert(source.begin(), tags.begin(), tags.end());
  return tags.size();
}

// Tags that are repeated come from nowhere in the text.
std::vector<ByteRange> Translator::ranges_of(std::string_view text, std::span<const Sentence> sentences) const {
  std::vector<ByteRange> ranges = vocabularies_.source.encode_with_offsets(text).ranges;
  size_t at = 0;
  for (const Sentence& sentence : sentences) {
    ranges.insert(ranges.begin() + ptrdiff_t(at), sentence.repeated, ByteRange{});
    at += sentence.source.size();
  }
  invariant(sentences.empty() || ranges.size() == at, "each token has a range");
  return ranges;
}

std::vector<int32_t> Translator::ids_of(const Vocabulary& vocabulary, std::string_view text) const {
  return is_blank(text) ? std::vector<int32_t>() : encode(vocabulary, text);
}

Phrase Translator::phrase(std::string_view text) const {
  if (is_blank(text)) return {};
  return options_.no_spm_encode ? vocabularies_.target.encode_given_pieces(text)
                                : phrase_of(vocabularies_.target, text);
}

std::vector<int32_t> Translator::encode(const Vocabulary& vocabulary, std::string_view text) const {
  return options_.no_spm_encode ? vocabulary.encode_given_pieces(text) : vocabulary.encode(text);
}

}  // namespace dragoman
