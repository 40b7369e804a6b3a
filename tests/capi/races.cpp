// Many threads use one translator of the C API while others cancel, translate and free it. ThreadSanitizer ends the
// program at a race; the program itself ends with 1 unless each request has had its one answer.
#include <atomic>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "dragoman/dragoman.h"

namespace {

constexpr int rounds = 20, threads = 6, requests = 100;

struct Request {
  std::atomic<int> answers = 0, cancelled = 0;
  std::atomic<bool> reported_cancelled = false;
};

void answer(void* context, dragoman_status status, const dragoman_translations*, const dragoman_error*) {
  auto* request = static_cast<Request*>(context);
  ++request->answers;
  if (status == DRAGOMAN_CANCELLED) ++request->cancelled;
}

void receive_partial(void* context, const char*) {
  if (static_cast<Request*>(context)->answers > 0) std::puts("a partial translation came after the answer");
}

void submit_and_cancel(dragoman_translator* translator, Request* all, int thread) {
  for (int i = 0; i < requests; ++i) {
    const std::string text(size_t(thread + i), 'a');
    dragoman_request request;
    dragoman_request_init(&request, sizeof request);
    request.text = text.c_str();
    request.answer = answer;
    request.context = &all[i];
    if (i % 2 == 0) request.partial = receive_partial;
    uint64_t ticket = 0;
    if (dragoman_submit(translator, &request, &ticket, nullptr) != DRAGOMAN_OK) std::puts("a request was refused");
    if (i % 3 == 1) all[i].reported_cancelled = dragoman_cancel(translator, ticket) == 1;
    if (i % 3 == 2) std::this_thread::yield();
    const char* const line = "waits";  // see fake_translator.cpp
    dragoman_translations* found = nullptr;
    if (i % 10 == 0 && dragoman_translate(translator, &line, 1, nullptr, &found, nullptr) == DRAGOMAN_OK)
      dragoman_translations_free(found);
  }
}

int run_round() {
  dragoman_engine* engine = nullptr;
  dragoman_translator* translator = nullptr;
  if (dragoman_engine_new(nullptr, &engine, nullptr) != DRAGOMAN_OK) return 1;
  if (dragoman_translator_new(engine, nullptr, &translator, nullptr) != DRAGOMAN_OK) return 1;
  dragoman_engine_free(engine);
  std::vector<Request> all(size_t(threads * requests));
  std::vector<std::thread> submitters;
  for (int t = 0; t < threads; ++t)
    submitters.emplace_back(submit_and_cancel, translator, &all[size_t(t * requests)], t);
  for (auto& thread : submitters) thread.join();
  dragoman_translator_free(translator);  // cancels the rest
  int wrong = 0;
  for (const Request& request : all)
    wrong += request.answers != 1 || (request.reported_cancelled && request.cancelled != 1);
  return wrong;
}

}  // namespace

int main() {
  int wrong = 0;
  for (int i = 0; i < rounds; ++i) wrong += run_round();
  std::printf("%d of %d requests had another number of answers than one\n", wrong, rounds * threads * requests);
  return wrong > 0;
}
