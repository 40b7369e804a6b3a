#pragma once
#include <memory>
#include <stop_token>

#include "data/corpus.h"

namespace dragoman {

/// One encoded text for the ranks of a machine (CorpusFiles::machine): the first encodes it and all map the same file.

/// Whether there are other ranks to share with.
bool is_shared(const CorpusFiles& files);

/// Gives the others a corpus that is complete. Its pairs are mapped afterwards.
void give(Corpus& corpus);

/// What the first rank gives for that epoch. Of the report, only the figures of the kept pairs. Error if stopped,
/// RankLost if the first rank has ended.
std::shared_ptr<const Corpus> given_corpus(const CorpusFiles& files, int64_t epoch, const std::stop_token& stop);

}  // namespace dragoman
