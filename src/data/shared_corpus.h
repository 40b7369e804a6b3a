#pragma once
#include <memory>
#include <stop_token>

#include "data/corpus.h"

namespace dragoman {

/// One encoded text for the ranks of a machine (CorpusFiles::machine): the first encodes it and all map the same file.

/// Whether there are other ranks to share with.
bool is_shared(const CorpusFiles& files);

/// Passes a complete corpus to the other ranks of the machine. Afterwards its pairs are mapped here, too.
void give(Corpus& corpus);

/// The same for the end of a stream.
void give_end(const CorpusFiles& files);

/// The corpus of that epoch, encoded by the first rank; null at the end of a stream. Its report has only the figures of
/// the kept pairs. Error if stopped, RankLost if the first rank has ended.
std::shared_ptr<const Corpus> given_corpus(const CorpusFiles& files, int64_t epoch, const std::stop_token& stop);

}  // namespace dragoman
