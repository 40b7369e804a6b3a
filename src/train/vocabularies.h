#pragma once
#include "data/corpus.h"
#include "io/model_file.h"
#include "train/setup.h"

namespace dragoman {

class Communicator;

/// The vocabulary files that a run has created. The destructor removes them unless they are kept, and says so in the
/// log, so that a run that fails before its first update leaves none behind, which the next run would take for the
/// user's files.
class MadeVocabularies {
 public:
  MadeVocabularies() = default;
  MadeVocabularies(const MadeVocabularies&) = delete;
  ~MadeVocabularies();
  void add(const std::string& path) { paths_.push_back(path); }
  void keep() { paths_.clear(); }

 private:
  std::vector<std::string> paths_;
};

/// A file of --vocabs that does not exist, and the model from whose vocabulary open_vocabularies() would write it;
/// empty: it would be learned from the training text.
struct MissingVocabulary {
  std::string path, model;
};
/// Error if one cannot be learned from text that is read only once, or has no piece that --decoder-start names.
std::vector<MissingVocabulary> missing_vocabularies(const TrainingSetup& setup);

/// Opens the vocabularies of --vocabs. Missing files are created first, from the vocabularies of the model that the run
/// resumes or of --pretrained-model, with --protected-symbols added, else from the training text. Error, before
/// anything is learned, if that text does not pair line by line.
Vocabularies open_vocabularies(const TrainingSetup& setup, MadeVocabularies* made = nullptr);

/// The same on all ranks: rank 0 creates missing files, then the others open them.
Vocabularies open_vocabularies(const TrainingSetup& setup, Communicator& ranks, MadeVocabularies& made);

/// The model's configuration, completed with the sizes of the vocabularies, with a vector of zeros as the beginning of
/// the decoder if there is no <s> and DataOptions::decoder_start_by_vocabulary allows it and, with --sentence-ends,
/// with the pieces that end a sentence. Error if there are no such pieces.
ModelConfig with_vocabularies(const TrainingSetup& setup, const Vocabularies& vocabularies);

/// The files of --train-sets, with the special pieces that the model puts around sentences.
CorpusFiles corpus_files(const TrainingSetup& setup, const Vocabularies& vocabularies);

/// Warns if the vocabulary of a side does not know more than a fifth of its tokens in the training text.
void warn_of_unknown(const TrainingSetup& setup, const CorpusFiles& files, const std::array<UnknownTokens, 2>& counted);

/// Error unless those `stored` in the model file are these vocabularies: a model knows only the ids of pieces, which
/// mean other pieces in another vocabulary. `paths` are those of --vocabs, `hint` says what to do.
void require_its_vocabularies(
    const std::string& model, const Vocabularies& stored, const Vocabularies& vocabularies,
    const std::vector<std::string>& paths,
    const std::string& hint =
        "give the vocabulary that it was trained with, another --model, or --no-reload to start from scratch");

}  // namespace dragoman
