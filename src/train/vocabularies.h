#pragma once
#include "data/corpus.h"
#include "io/model_file.h"
#include "train/setup.h"

namespace dragoman {

class Communicator;

/// The files of the vocabularies that a run has made, which go with this object unless they are kept: a run that fails
/// before its first update leaves none behind, which the next call would take for the user's.
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

/// The vocabularies of --vocabs; those whose files are missing are made first: of those in
/// --pretrained-model, else from the training text.
Vocabularies open_vocabularies(const TrainingSetup& setup, MadeVocabularies* made = nullptr);

/// The same on all ranks: rank 0 makes what is missing, and the others open it then.
Vocabularies open_vocabularies(const TrainingSetup& setup, Communicator& ranks, MadeVocabularies& made);

/// The model's configuration with what it has to know of them: their sizes, and the pieces that end a sentence where it
/// reads by sentences. Error when there are none.
ModelConfig with_vocabularies(const TrainingSetup& setup, const Vocabularies& vocabularies);

/// The files of --train-sets, with what the model has around its sentences.
CorpusFiles corpus_files(const TrainingSetup& setup, const Vocabularies& vocabularies);

/// Error unless the model file has these vocabularies: a model knows numbers of pieces only, and in another vocabulary
/// they mean something else. `paths` are those of --vocabs, `hint` says what to do.
void require_its_vocabularies(
    const ModelFile& model, const Vocabularies& vocabularies, const std::vector<std::string>& paths,
    const std::string& hint =
        "give the vocabulary that it was trained with, another --model, or --no-reload to start from scratch");

}  // namespace dragoman
