#include <filesystem>

#include "base/log.h"
#include "train/trainer.h"
#include "vocab/training.h"

namespace dragoman {
namespace {

Vocabulary open_or_train(const std::string& path, std::vector<std::string> texts, int size,
                         const TrainingSetup& setup) {
  if (!std::filesystem::exists(path)) {
    spdlog::info("Vocabulary {} does not exist: learning {} pieces from {}", path, size, fmt::join(texts, ", "));
    VocabularyTraining training{.inputs = std::move(texts), .model = path, .size = size};
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
  const auto &vocabs = setup.data.vocabs, &texts = setup.data.train_sets;
  const auto& sizes = setup.data.dim_vocabs;
  if (vocabs[0] == vocabs[1]) {
    const Vocabulary joint = open_or_train(vocabs[0], texts, sizes[0], setup);
    return {joint, joint};
  }
  return {open_or_train(vocabs[0], {texts[0]}, sizes.front(), setup),
          open_or_train(vocabs[1], {texts[1]}, sizes.back(), setup)};
}

}  // namespace dragoman
