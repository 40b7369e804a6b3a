#include "serve/text_order.h"

#include "base/error.h"
#include "base/log.h"
#include "serve/text_lines.h"
#include "tensor/arena.h"

namespace dragoman {
namespace {

HttpResponse failure_response(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const OutOfMemory& e) {
    return busy_response(503, e.what());
  } catch (const Error& e) {
    return error_response(400, e.what());
  } catch (const std::exception& e) {
    log_warning("A translation failed: {}", e.what());
    return error_response(500, "the server failed to translate");
  }
}

/// The texts of an order while they are translated. The server's thread alone uses it.
class Texts {
 public:
  explicit Texts(std::span<const std::string> texts) {
    for (const std::string& text : texts) lines_.emplace_back(text);
    beginnings_.resize(lines_.empty() ? 0 : lines_[0].sentences().size());
    whole_.resize(beginnings_.size());
  }

  std::vector<std::string> sentences() const {
    std::vector<std::string> all;
    for (const TextLines& text : lines_) all.insert(all.end(), text.sentences().begin(), text.sentences().end());
    return all;
  }

  /// The translation of the first text up to its first unfinished sentence; empty if it has not grown.
  std::string grown(size_t sentence, const std::string& beginning, bool whole) {
    if (sentence >= beginnings_.size()) return "";
    beginnings_[sentence] = beginning;
    whole_[sentence] = whole;
    if (sentence > unfinished_) return "";
    while (unfinished_ < whole_.size() && whole_[unfinished_]) ++unfinished_;
    std::vector<std::string> told = beginnings_;
    for (size_t later = unfinished_ + 1; later < told.size(); ++later) told[later].clear();
    std::string text = lines_[0].assemble(told);
    text.erase(text.find_last_not_of(" \t\r\n\v\f") + 1);
    if (text.size() <= told_.size() || !text.starts_with(told_)) return "";
    return told_ = text;
  }

  std::vector<TextResult> results(std::vector<std::vector<Translation>> best) const {
    std::vector<TextResult> results;
    auto next = best.begin();
    for (const TextLines& text : lines_) {
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
  static std::string assembled(const TextLines& text, std::span<const std::vector<Translation>> sentences,
                               size_t rank) {
    std::vector<std::string> translations;
    for (const auto& best : sentences) translations.push_back(best[std::min(rank, best.size() - 1)].text);
    return text.assemble(translations);
  }

  std::vector<TextLines> lines_;
  std::vector<std::string> beginnings_;  // of the first text's sentences
  std::vector<bool> whole_;
  size_t unfinished_ = 0;  // the first sentence that is not whole
  std::string told_;
};

}  // namespace

void answer_failure(Exchange& exchange, const std::exception_ptr& error, bool streams) {
  HttpResponse response = failure_response(error);
  if (!streams) return exchange.respond(std::move(response));
  exchange.send_event("error", response.body);
  exchange.end_events();
}

void translate_texts(Service& service, const std::shared_ptr<Exchange>& exchange, TextOrder order,
                     std::function<void(const std::string&)> begun, std::function<void(std::vector<TextResult>)> done) {
  service.take_characters(order.texts);
  const auto texts = std::make_shared<Texts>(order.texts);
  TranslationJob job{.sentences = texts->sentences(),
                     .search = order.search,
                     .prefix = std::move(order.prefix),
                     .alignment = order.alignment};
  const bool streams = begun != nullptr;
  if (streams)
    job.begun = [&service, texts, begun = std::move(begun)](size_t sentence, const std::string& text, bool whole) {
      service.post([texts, begun, sentence, text, whole] {
        if (const std::string all = texts->grown(sentence, text, whole); !all.empty()) begun(all);
      });
    };
  job.done = [&service, texts, done = std::move(done)](std::vector<std::vector<Translation>> best) {
    service.post([texts, done, best = std::move(best)]() mutable { done(texts->results(std::move(best))); });
  };
  job.failed = [&service, exchange, streams](std::exception_ptr error) {
    service.post([exchange, error = std::move(error), streams] { answer_failure(*exchange, error, streams); });
  };
  const auto submitted = service.models().submit(order.model, std::move(job));
  exchange->when_abandoned([submitted](int) { submitted.cancel(); });
}

}  // namespace dragoman
