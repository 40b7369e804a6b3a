// In place of the library's models: a translator whose requests end after a few steps, so that ThreadSanitizer can
// watch the threads around it without the whole library being compiled for it.
#include <algorithm>
#include <map>
#include <stdexcept>
#include <thread>

#include "base/error.h"
#include "dragoman/engine.h"
#include "dragoman/text_translator.h"

namespace dragoman {

struct Backend {};
struct Engine::State {};
Engine::Engine(EngineOptions) : state_(std::make_unique<State>()) {}
Engine::~Engine() = default;
int Engine::threads() const { return 1; }
const Backend& Engine::backend() const {
  static const Backend none;
  return none;
}

struct Engine::Scope::Bindings {};
Engine::Scope::Scope(Engine&) {}
Engine::Scope::~Scope() = default;

struct TextTranslator::State {
  struct Pending {
    std::string text;
    int steps;
    Done done;
    Failed failed;
    std::function<void(const std::string&)> partial;
  };
  std::map<Ticket, Pending> pending;
  Ticket last = 0;
  int steps = 0;
};

TextTranslator::TextTranslator(Engine&, TextTranslatorOptions) : state_(std::make_unique<State>()) {}
TextTranslator::~TextTranslator() = default;

std::shared_ptr<const Glossary> TextTranslator::glossary(const std::map<std::string, std::string>&) const { return {}; }
std::shared_ptr<const ForbiddenPhrases> TextTranslator::forbidden_phrases(const std::vector<std::string>&) const {
  return {};
}

void TextTranslator::require_valid(const TranslationRequest& request) const {
  require(request.search.beam_size > 0, "--beam-size: {}", request.search.beam_size);
}

TextTranslator::Ticket TextTranslator::submit(TranslationRequest request, Done done, Failed failed) {
  const int steps = 1 + int(request.text.size() % 5);
  state_->pending[++state_->last] = {std::move(request.text), steps, std::move(done), std::move(failed),
                                     std::move(request.partial)};
  return state_->last;
}

bool TextTranslator::wants_more() const { return state_->pending.size() < 8; }

bool TextTranslator::cancel(Ticket ticket) { return state_->pending.erase(ticket) > 0; }

// Every 50th step has no memory for its requests, and about every 70th has a bug. That exception is shared by all, so
// it does not come while a caller waits: libstdc++, which is not compiled for ThreadSanitizer, counts who still has it,
// and to ThreadSanitizer the last one seems to delete it under the others.
bool TextTranslator::step() {
  auto& pending = state_->pending;
  const bool waits = std::ranges::any_of(pending, [](const auto& p) { return p.second.text == "waits"; });
  if (++state_->steps % 70 == 0 && !waits) {
    pending.clear();
    throw std::logic_error("a bug");
  }
  std::thread searcher([&] {  // as those of the engine
    for (const auto& [ticket, p] : pending)
      if (p.partial) p.partial(p.text);
  });
  searcher.join();
  std::vector<State::Pending> ended;
  for (auto at = pending.begin(); at != pending.end();) {
    const bool ends = --at->second.steps == 0;
    if (ends) ended.push_back(std::move(at->second));
    at = ends ? pending.erase(at) : std::next(at);
  }
  for (auto& p : ended)
    state_->steps % 50 == 0 ? p.failed(std::make_exception_ptr(std::bad_alloc())) : p.done({{.text = p.text}});
  return !pending.empty();
}

}  // namespace dragoman
