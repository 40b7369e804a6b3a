#include <gmock/gmock.h>
#include <sentencepiece_trainer.h>

#include "tests/train/toy_run.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// A vocabulary as Marian makes it: </s> 0, <unk> 1, no <s>.
std::string vocabulary_of_marian(const ToyRun& run, const std::string& ids) {
  const std::string prefix = run.files / "marian";
  const auto& text = run.setup.data.train_sets;
  const auto status = sentencepiece::SentencePieceTrainer::Train(
      "--input=" + text[0] + "," + text[1] +
      " --model_type=bpe --vocab_size=90 --minloglevel=2 --model_prefix=" + prefix + " " + ids);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return prefix + ".model";
}

struct MarianRun : ToyRun {
  explicit MarianRun(int pairs = 200) : ToyRun(pairs) {
    const std::string path = vocabulary_of_marian(*this, "--eos_id=0 --unk_id=1 --bos_id=-1 --pad_id=-1");
    setup.data.vocabs = {path, path};
  }
};

TEST(SpecialIds, MayBeThoseOfMarian) {
  MarianRun run(1000);
  run.setup.data.mini_batch_words = 200;
  run.setup.model.dropout.sublayer = 0;
  run.setup.model.decoder_start = DecoderStart::zero;
  run.setup.optimizer.label_smoothing = 0;
  run.setup.training.valid_metrics = {ValidMetric::cross_entropy, ValidMetric::bleu};
  run.setup.training.valid_freq = {100, Frequency::updates};
  const Progress progress = run.train_until(400);
  EXPECT_LT(progress.best.at("cross-entropy"), 0.3) << run.log.text();
  EXPECT_GT(progress.best.at("bleu"), 80);
  const ModelConfig config = ModelFile(run.setup.training.model).config();
  EXPECT_EQ(config.special, (SpecialIds{.unk = 1, .bos = -1, .eos = 0, .pad = -1}));
  EXPECT_EQ(config.decoder_start, DecoderStart::zero);
}

TEST(SpecialIds, NeedAPieceThatTheDecoderBeginsWith) {
  MarianRun run;
  EXPECT_THAT(message_of([&] { run.train_until(1); }),
              AllOf(HasSubstr("--decoder-start bos is a piece that"), HasSubstr("marian.model does not have"),
                    HasSubstr("--decoder-start zero")));
}

TEST(SpecialIds, WithoutAStartBeginWithZerosIfTheVocabularyDecides) {
  MarianRun run;
  run.setup.data.decoder_start_by_vocabulary = true;
  run.train_until(1);
  EXPECT_EQ(ModelFile(run.setup.training.model).config().decoder_start, DecoderStart::zero);
  EXPECT_THAT(run.log.text(), HasSubstr("marian.model has no <s>: the decoder begins with a vector of zeros"));
  run.log.clear();
  run.train_until(2);
  EXPECT_THAT(run.log.text(), HasSubstr("Resum")) << "with the model that it began with";
  ToyRun other;
  other.setup.data.decoder_start_by_vocabulary = true;
  other.train_until(1);
  EXPECT_EQ(ModelFile(other.setup.training.model).config().decoder_start, DecoderStart::bos) << "it has <s>";
}

TEST(SpecialIds, OfAListToMakeAreKnownBeforeTheTextIsRead) {
  ToyRun run;
  const std::string list = run.files / "list.yml";
  run.setup.data.vocabs = {list, list};
  EXPECT_THAT(message_of([&] { run.train_until(1); }), HasSubstr("--decoder-start bos is a piece that"));
  EXPECT_THAT(run.log.text(), testing::Not(HasSubstr("Listed")));
  run.setup.data.decoder_start_by_vocabulary = true;
  EXPECT_EQ(message_of([&] { run.train_until(1); }), "");
  EXPECT_THAT(run.log.text(), HasSubstr("list.yml has no <s>"));
}

TEST(SpecialIds, AreTheSameOnBothSides) {
  ToyRun run;
  const MarianRun other;
  run.setup.data.vocabs[1] = other.setup.data.vocabs[1];
  run.setup.model.embeddings.tied_all = false;
  EXPECT_THAT(message_of([&] { run.train_until(1); }),
              AllOf(HasSubstr("numbers <unk>, <s>, </s>, <pad> as 0, 1, 2, -1, but"), HasSubstr("as 1, -1, 0, -1")));
}

}  // namespace
}  // namespace dragoman
