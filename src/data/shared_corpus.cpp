#include "data/shared_corpus.h"

#include <fmt/format.h>

#include <sstream>

#include "base/error.h"
#include "comm/machine_ranks.h"

namespace dragoman {
namespace {

// In the place of the facts about a corpus.
constexpr std::string_view end_of_stream = "end";

}  // namespace

bool is_shared(const CorpusFiles& files) { return files.machine && files.machine->size() > 1; }

void give(Corpus& corpus) {
  const FileDescriptor file = corpus.pairs.to_file();
  corpus.pairs = PairStore(file);
  corpus.files.machine->give(file,
                             fmt::format("{} {} {}", corpus.epoch, corpus.fingerprint, fmt::join(corpus.ends, " ")));
}

void give_end(const CorpusFiles& files) {
  files.machine->give(FileDescriptor::in_memory(text_name(files.texts)), std::string(end_of_stream));
}

// A run that rolls back stops encoding the next epoch. If the first rank has already passed on that epoch, it is
// skipped.
std::shared_ptr<const Corpus> given_corpus(const CorpusFiles& files, int64_t epoch, const std::stop_token& stop) {
  const auto corpus = std::make_shared<Corpus>();
  corpus->files = files;
  for (corpus->epoch = -1; corpus->epoch != epoch;) {
    const auto given = files.machine->next_file(stop);
    if (!given) fail("{}: reading was stopped", text_name(files.texts));
    if (given->text == end_of_stream) return nullptr;
    std::istringstream facts(given->text);
    facts >> corpus->epoch >> corpus->fingerprint;
    corpus->ends.clear();
    for (int64_t end = 0; facts >> end;) corpus->ends.push_back(end);
    corpus->pairs = PairStore(given->file);
  }
  corpus->report.name = text_name(files.texts);
  corpus->report.max_length = files.max_length;
  corpus->report.kept = corpus->size();
  corpus->report.tokens = {corpus->pairs.source_tokens(), corpus->pairs.target_tokens()};
  return corpus;
}

}  // namespace dragoman
