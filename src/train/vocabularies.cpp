#include "train/vocabularies.h"

#include <filesystem>

#include "base/log.h"
#include "data/parallel_text.h"
#include "vocab/training.h"

namespace dragoman {
namespace {

Vocabulary open_or_train(const std::string& path, TextColumns columns, int size, const TrainingSetup& setup) {
  if (!std::filesystem::exists(path)) {
    VocabularyTraining training{.model = path, .size = size};
    const auto texts = text_pairs("train-sets", setup.data.train_sets, setup.data.tsv);
    const bool source = columns != TextColumns::target, target = columns != TextColumns::source;
    if (source || setup.data.tsv)
      for (const TextPair& text : texts) training.inputs.push_back(text.paths[0]);
    if (target && !setup.data.tsv)
      for (const TextPair& text : texts) training.inputs.push_back(text.paths[1]);
    if (setup.data.tsv) training.columns = columns;
    training.type = setup.data.vocabulary_type;
    training.normalization = setup.data.normalization;
    training.seed = setup.training.seed;
    train_vocabulary(training);
  }
  Vocabulary vocabulary = Vocabulary::load(path);
  if (vocabulary.unk() != unk_id || vocabulary.bos() != bos_id || vocabulary.eos() != eos_id)
    throw Error(fmt::format("{} numbers <unk>, <s>, </s> as {}, {}, {}, expected {}, {}, {}", path, vocabulary.unk(),
                            vocabulary.bos(), vocabulary.eos(), unk_id, bos_id, eos_id),
                "make it with dragoman vocab train, or spm_train --unk_id 0 --bos_id 1 --eos_id 2 --pad_id -1");
  return vocabulary;
}

}  // namespace

Vocabularies open_vocabularies(const TrainingSetup& setup) {
  const auto& vocabs = setup.data.vocabs;
  const auto& sizes = setup.data.dim_vocabs;
  if (vocabs[0] == vocabs[1]) {
    const Vocabulary joint = open_or_train(vocabs[0], TextColumns::both, sizes[0], setup);
    return {joint, joint};
  }
  return {open_or_train(vocabs[0], TextColumns::source, sizes.front(), setup),
          open_or_train(vocabs[1], TextColumns::target, sizes.back(), setup)};
}

ModelConfig with_vocabularies(ModelConfig config, const Vocabularies& vocabularies) {
  config.source_vocabulary = vocabularies.source.size();
  config.target_vocabulary = vocabularies.target.size();
  return config;
}

void require_its_vocabularies(const std::string& model, const Vocabularies& vocabularies,
                              const std::vector<std::string>& paths) {
  const Vocabularies stored = ModelFile(model).vocabularies();
  const bool same_source = stored.source.bytes() == vocabularies.source.bytes();
  if (same_source && stored.target.bytes() == vocabularies.target.bytes()) return;
  throw Error(fmt::format("{} was trained with another vocabulary than {}", model, paths[same_source ? 1 : 0]),
              "give --vocabs the one it was trained with, another --model, or --no-reload to begin anew");
}

}  // namespace dragoman
