#include <gmock/gmock.h>

#include "base/error.h"
#include "cli/average_options.h"
#include "cli/commands.h"
#include "tests/engine.h"
#include "tests/temporary_folder.h"
#include "tests/toy_model.h"

namespace dragoman {
namespace {

using testing::Each;
using testing::HasSubstr;

class AverageCommand : public testing::Test {
 protected:
  // A model with all weights equal to `value`.
  std::string constant(const std::string& name, float value) {
    Arena arena;
    const auto model = toy_model(arena, 1);
    for (const auto& p : model->parameters().named()) std::fill_n(p.value.as<float>(), p.value.elements(), value);
    save_model(folder / name, toy_config(), {toy_vocabulary(), toy_vocabulary()}, weights_of(model->parameters()));
    return folder / name;
  }

  std::vector<float> weights(const std::string& path, const std::string& tensor = "encoder.0.feed_forward.up.weight") {
    return values_of<float>(ModelFile(path).tensors().get(tensor));
  }

  void expect_error(const AverageCommandOptions& options, const std::vector<std::string>& parts) {
    try {
      average_command(engine, options);
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      for (const std::string& part : parts) EXPECT_THAT(error.what(), HasSubstr(part));
    }
    EXPECT_FALSE(std::filesystem::exists(options.output));
  }

  TemporaryFolder folder;
  const std::string out = folder / "out";
};

TEST_F(AverageCommand, WritesTheMeanOfEachWeight) {
  EXPECT_EQ(average_command(engine, {out, {constant("a", 1), constant("b", 2), constant("c", 6)}}), 0);
  EXPECT_THAT(weights(out), Each(3));
  EXPECT_THAT(weights(out, "embedding.weight"), Each(3));
}

TEST_F(AverageCommand, TakesEachWeightFromItsOwnPosition) {
  const std::string a = save_toy_model(folder / "a", 1), b = save_toy_model(folder / "b", 2);
  average_command(engine, {out, {a, b}});
  const auto mean = weights(out), from_a = weights(a), from_b = weights(b);
  for (size_t i = 0; i < mean.size(); ++i)
    EXPECT_EQ(mean[i], float((double(from_a[i]) + double(from_b[i])) / 2));  // one rounding
}

// In float, 1e8 + 1 would round to 1e8.
TEST_F(AverageCommand, SumsInDoublePrecision) {
  average_command(engine, {out, {constant("a", 1e8), constant("b", 1), constant("c", -1e8)}});
  EXPECT_THAT(weights(out), Each(float(1.0 / 3)));
}

TEST_F(AverageCommand, OfOneModelOrOfCopiesIsThatModelByteByByte) {
  const std::string a = save_toy_model(folder / "a", 1);
  average_command(engine, {out, {a}});
  EXPECT_EQ(folder.content_of("out"), folder.content_of("a"));
  average_command(engine, {out, {a, a, a}});
  EXPECT_EQ(folder.content_of("out"), folder.content_of("a"));
}

TEST_F(AverageCommand, DoesNotWriteOverOneOfItsModels) {
  const std::string a = constant("a", 1), b = constant("b", 2);
  EXPECT_THAT(
      [&] {
        average_command(engine, {a, {a, b}});
      },
      testing::ThrowsMessage<Error>(HasSubstr(a + ": its content would be lost")));
  EXPECT_THAT(weights(a), Each(1.0f));
}

TEST_F(AverageCommand, NamesFilesAndEntriesOfModelsThatDiffer) {
  ModelConfig wider = toy_config();
  wider.dim = 32, wider.heads = 4;
  const std::string a = save_toy_model(folder / "a", 1), b = save_toy_model(folder / "b", 1, wider);
  expect_error({out, {a, b}}, {a, b, "--dim-emb is 16 and 32, --transformer-heads is 2 and 4"});
}

TEST_F(AverageCommand, TakesModelsThatWereTrainedDifferentlyAndTheTrainingOptionsOfTheFirst) {
  ModelConfig tuned = toy_config();
  tuned.dropout.sublayer = 0.3;
  ASSERT_NE(tuned.dropout.sublayer, toy_config().dropout.sublayer);
  const std::string a = save_toy_model(folder / "a", 1), b = save_toy_model(folder / "b", 2, tuned);
  EXPECT_EQ(average_command(engine, {out, {b, a}}), 0);
  EXPECT_EQ(ModelFile(out).config().dropout.sublayer, 0.3);
  const auto mean = weights(out), from_a = weights(a), from_b = weights(b);
  EXPECT_EQ(mean[0], float((double(from_a[0]) + double(from_b[0])) / 2));
}

TEST_F(AverageCommand, NamesFilesWhoseVocabulariesDiffer) {
  const std::string a = save_toy_model(folder / "a", 1);
  const std::string b = save_toy_model(folder / "b", 1, toy_config(), toy_vocabulary("unigram"));
  expect_error({out, {a, b}}, {a, b, "different source vocabularies"});
}

TEST_F(AverageCommand, NamesTheFileThatLacksAWeight) {
  const std::string a = save_toy_model(folder / "a", 1), b = folder / "b";
  Arena arena;
  auto some = weights_of(toy_model(arena, 1)->parameters());
  std::erase_if(some, [](const NamedTensor& w) { return w.name == "decoder.0.feed_forward.up.bias"; });
  save_model(b, toy_config(), {toy_vocabulary(), toy_vocabulary()}, some);
  expect_error({out, {a, b}}, {b, "decoder.0.feed_forward.up.bias"});
}

TEST_F(AverageCommand, LeavesAnOldFileAsItWasWhenItFails) {
  const std::string a = constant("a", 1), old = folder.make("old", "kept");
  EXPECT_THROW(average_command(engine, {old, {a, folder / "missing"}}), Error);
  EXPECT_EQ(folder.content_of("old"), "kept");
  EXPECT_EQ(folder.files(), 2);
}

}  // namespace
}  // namespace dragoman
