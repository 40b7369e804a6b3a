#include <gmock/gmock.h>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/convert_options.h"
#include "interop/open_model.h"
#include "tests/engine.h"
#include "tests/source_dir.h"
#include "tests/temporary_folder.h"
#include "tests/toy_model.h"

namespace dragoman {
namespace {

using testing::HasSubstr;

std::string golden(const std::string& name) { return source_dir() + "/tests/interop/golden/" + name; }

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

}  // namespace
}  // namespace dragoman
