#include "serve/text_job.h"

#include <algorithm>

#include "base/error.h"
#include "base/log.h"
#include "base/new_thread.h"
#include "base/utf8.h"
#include "model/model.h"
#include "tensor/arena.h"
#include "text/characters.h"

namespace dragoman {
namespace {

// What may be the tags of a text (leading_tags() in interop/languages.h), "<med> <2de>". Each sentence gets a copy.
std::string beginning_with_tags(const std::string& text) {
  constexpr size_t longest = 256;  // bytes
  size_t end = 0;
  for (size_t at = 0; at < text.size() && at < longest; at = text.find_first_not_of(' ', end)) {
    const std::string_view rest = std::string_view(text).substr(at, longest - at);
    const std::string_view close = rest.starts_with(">>") ? "<<" : ">";
    if (!rest.starts_with('<') && !rest.starts_with(">>")) break;
    const size_t closed = rest.find(close);
    if (closed == std::string_view::npos) break;
    end = at + closed + close.size();
  }
  return text.substr(0, end);
}

HttpResponse failure_response(Service& service, const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const OutOfMemory&) {
    return no_memory_response();
  } catch (const std::bad_alloc&) {
    return no_memory_response();
  } catch (const TooManyThreads& e) {
    log_warning("A translation failed: {}", e.what());
    return busy_response(503, "the server has too few threads for this request at the moment");
  } catch (const DeviceError& e) {
    service.note_device(e.what());
    return error_response(503, "the server's GPU has failed");
  } catch (const DamagedModel& e) {
    log_warning("A request failed: {}", e.what());
    return error_response(500, e.what());
  } catch (const Error& e) {
    return error_response(400, e.what());
  } catch (const std::exception& e) {
    log_warning("A translation failed: {}", e.what());
    return error_response(500, "the server failed to translate");
  }
}

/// The texts of a job while they are translated. The server's thread alone uses it.
class Texts {
 public:
  Texts(std::vector<std::string> texts, DocumentFormat format, const std::string& language) {
    for (std::string& text : texts) documents_.emplace_back(std::move(text), format, language);
    beginnings_.resize(documents_.empty() ? 0 : documents_[0].sentences().size());
    whole_.resize(beginnings_.size());
  }

  std::vector<std::string> sentences() const {
    std::vector<std::string> all;
    for (const Document& text : documents_) all.insert(all.end(), text.sentences().begin(), text.sentences().end());
    return all;
  }

  /// For each sentence the tags with which its text begins.
  std::vector<std::string> tags() const {
    std::vector<std::string> all;
    for (const Document& text : documents_) {
      if (text.sentences().empty()) continue;
      all.resize(all.size() + text.sentences().size(), beginning_with_tags(text.sentences()[0]));
    }
    return all;
  }

  bool need_links() const {
    return std::ranges::any_of(documents_, [](const Document& text) {
      for (size_t i = 0; i < text.sentences().size(); ++i)
        if (text.needs_links(i)) return true;
      return false;
    });
  }

  /// What the translation of the first text, up to its first unfinished sentence, has in addition to what earlier calls
  /// returned. Cost: of the sentences that have not been returned as a whole, however long the text is.
  std::string grown(size_t sentence, const std::string& beginning, bool whole) {
    if (sentence >= beginnings_.size()) return "";
    beginnings_[sentence].text = beginning;
    whole_[sentence] = whole;
    if (sentence > unfinished_) return "";
    for (; unfinished_ < whole_.size() && whole_[unfinished_]; ++unfinished_) visible_ += visible(unfinished_);
    std::string text = visible_;
    if (unfinished_ < whole_.size() && !beginnings_[unfinished_].text.empty()) text += visible(unfinished_);
    text.resize(without_blanks(text, {0, text.size()}).end);  // blanks at its end may yet change
    if (text.size() <= returned_.size() || !text.starts_with(returned_)) return "";
    std::string more = text.substr(returned_.size());
    returned_ = std::move(text);
    if (returned_.size() >= visible_.size()) {
      returned_.erase(0, visible_.size());
      visible_.clear();
    }
    return more;
  }

  std::vector<TextResult> results(std::vector<std::vector<Translation>> best) const {
    std::vector<TextResult> results;
    auto next = best.begin();
    for (const Document& text : documents_) {
      TextResult& result = results.emplace_back();
      result.sentences = text.sentences();
      const auto end = next + std::ssize(result.sentences);
      result.of_sentences.assign(std::make_move_iterator(next), std::make_move_iterator(end));
      next = end;
      size_t ranks = 1;
      for (const auto& sentence : result.of_sentences) ranks = std::max(ranks, sentence.size());
      for (size_t rank = 0; rank < ranks; ++rank) result.best.push_back(assembled(text, result.of_sentences, rank));
    }
    return results;
  }

 private:
  // The sentence as the text will have it, and what is before it.
  std::string visible(size_t sentence) const { return documents_[0].assemble(sentence, beginnings_); }

  static std::string assembled(const Document& text, std::span<const std::vector<Translation>> sentences, size_t rank) {
    std::vector<TranslatedSentence> translations;
    for (const auto& best : sentences) {
      const Translation& t = best[std::min(rank, best.size() - 1)];
      translations.push_back({t.text, t.links});
    }
    return text.assemble(translations);
  }

  std::vector<Document> documents_;
  std::vector<TranslatedSentence> beginnings_;  // of the first text's sentences
  std::vector<bool> whole_;
  size_t unfinished_ = 0;  // the first sentence that is not whole
  // Without the whole sentences that have been returned: the text up to `unfinished_`, and what has been returned.
  std::string visible_, returned_;
};

}  // namespace

void answer_failure(Service& service, Exchange& exchange, const std::exception_ptr& error) {
  HttpResponse response = failure_response(service, error);
  if (!exchange.events_begun()) return exchange.respond(std::move(response));
  exchange.send_event("error", response.body);
  exchange.end_events(response.status);
}

void translate_texts(Service& service, const std::shared_ptr<Exchange>& exchange, TextJob job,
                     std::function<void(const std::string&)> partial,
                     std::function<void(std::vector<TextResult>)> done) {
  std::string further = job.prefix;
  for (const auto& [term, translation] : job.glossary) further += term + translation;
  for (const std::string& phrase : job.avoid) further += phrase;
  service.take_characters(characters_of(job.texts) + count_characters(further));
  const std::string& source = service.models()[job.model].source;
  const auto texts =
      std::make_shared<Texts>(std::move(job.texts), job.format, source.empty() ? job.languages.source : source);
  TranslationJob translation{std::move(static_cast<RequestOptions&>(job))};
  translation.sentences = texts->sentences();
  translation.tags = texts->tags();
  translation.wanted = job.scores ? Wanted::log_probs : Wanted::pieces;
  translation.links = texts->need_links();
  if (partial && job.format == DocumentFormat::text)  // markup moves until a sentence is whole
    translation.partial = [texts, partial = std::move(partial)](size_t sentence, const std::string& text, bool whole) {
      if (const std::string more = texts->grown(sentence, text, whole); !more.empty()) partial(more);
    };
  translation.done = [&service, texts, exchange, done = std::move(done)](std::vector<std::vector<Translation>> best) {
    if (!best.empty()) service.note_device("");  // it was used
    try {
      done(texts->results(std::move(best)));
    } catch (const std::exception&) {  // no memory for it
      answer_failure(service, *exchange, std::current_exception());
    }
  };
  translation.failed = [&service, exchange](const std::exception_ptr& error) {
    answer_failure(service, *exchange, error);
  };
  const auto submitted = service.models().submit(job.model, std::move(translation));
  exchange->when_abandoned([submitted](int) { submitted.cancel(); });
}

}  // namespace dragoman
