#include <gmock/gmock.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/convert_options.h"
#include "interop/open_model.h"
#include "io/safetensors.h"
#include "tests/engine.h"
#include "tests/error_of.h"
#include "tests/interop/huggingface_folder.h"
#include "tests/source_dir.h"
#include "tests/temporary_folder.h"
#include "tests/toy_model.h"

namespace dragoman {
namespace {

using testing::HasSubstr;

ConvertCommandOptions options(const std::string& input, const std::string& output) {
  ConvertCommandOptions o;
  o.input = input, o.output = output, o.vocabs = {golden("words.yml"), golden("words.yml")};
  return o;
}

TEST(ConvertCommand, WritesWhatIsConvertedInMemory) {
  const TemporaryFolder folder;
  EXPECT_EQ(convert_command(engine, options(golden("ssru.npz"), folder / "m")), 0);
  const ModelFile file(folder / "m");
  const ModelFile memory = open_model(golden("ssru.npz"), {.vocabs = {golden("words.yml"), golden("words.yml")}});
  EXPECT_EQ(file.tensors().metadata(), memory.tensors().metadata());  // with its checksum
}

TEST(ConvertCommand, TakesModelsOfOtherProgramsOnly) {
  const TemporaryFolder folder;
  const std::string ours = save_toy_model(folder / "ours", 1);
  try {
    convert_command(engine, options(ours, folder / "m"));
    ADD_FAILURE() << "no error";
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("is already a dragoman model"));
    EXPECT_THAT(e.hint(), HasSubstr("--target-lang"));
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "m"));
}

// Marian's file without vocabularies beside it; nothing is written.
TEST(ConvertCommand, AsksForVocabulariesThatNothingNames) {
  const TemporaryFolder folder;
  ConvertCommandOptions o = options(golden("tied.npz"), folder / "m");
  o.vocabs.clear();
  try {
    convert_command(engine, o);
    ADD_FAILURE() << "no error";
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("no file next to it names its vocabularies"));
    EXPECT_THAT(e.hint(), HasSubstr("--vocabs"));
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "m"));
}

class ConvertMarianMt : public MarianMt {
 protected:
  std::string error_of_converting(const std::string& output) {
    ConvertCommandOptions o = options(path(), output);
    o.vocabs.clear();
    return error_of([&] { convert_command(engine, o); });
  }
};

// Otherwise a good model would be replaced by one that nothing can load.
TEST_F(ConvertMarianMt, ChecksShapesBeforeItTouchesTheOutput) {
  const std::string output = save_toy_model(folder / "m", 1), good = folder.content_of("m");
  set("decoder_ffn_dim", "1000000");
  EXPECT_THAT(error_of_converting(output), HasSubstr("expected 1000000 rows, as decoder_ffn_dim in config.json says"));
  set("decoder_ffn_dim", "10");
  const SafetensorsFile sound(golden("marianmt/model.safetensors"));
  std::vector<TensorEntry> tensors(sound.tensors().begin(), sound.tensors().end());
  std::ranges::find(tensors, "model.decoder.layers.0.fc2.weight", &TensorEntry::name)->shape = {10, 8};
  write_safetensors(folder / "model.safetensors", tensors, sound.metadata());
  EXPECT_THAT(error_of_converting(output),
              HasSubstr("decoder.0.feed_forward.down.weight is (10,8), the model's configuration makes it (8,10)"));
  EXPECT_EQ(folder.content_of("m"), good);
}

TEST_F(ConvertMarianMt, NamesAWeightThatIsNotFinite) {
  const std::string output = save_toy_model(folder / "m", 1), good = folder.content_of("m");
  const SafetensorsFile sound(golden("marianmt/model.safetensors"));
  std::vector<TensorEntry> tensors(sound.tensors().begin(), sound.tensors().end());
  const auto broken = std::ranges::find(tensors, "model.shared.weight", &TensorEntry::name);
  std::vector<float> values = values_of<float>(*broken);
  values.back() = std::numeric_limits<float>::quiet_NaN();
  broken->bytes = std::as_bytes(std::span(values));
  write_safetensors(folder / "model.safetensors", tensors, sound.metadata());
  EXPECT_THAT(error_of_converting(output), HasSubstr("embedding.weight holds nan, expected finite numbers"));
  EXPECT_EQ(folder.content_of("m"), good);
}

}  // namespace
}  // namespace dragoman
