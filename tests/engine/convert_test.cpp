#include "dragoman/convert.h"

#include <gmock/gmock.h>

#include "base/file.h"
#include "dragoman/engine.h"
#include "dragoman/error.h"
#include "tests/temporary_folder.h"

namespace dragoman {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(ConvertModel, RefusesToOverwriteWhatItReads) {
  const TemporaryFolder folder;
  Engine engine({.threads = 1});
  const std::string model = folder.make("m.npz", "weights"), vocabulary = folder.make("v", "pieces");
  EXPECT_THAT([&] { convert_model(engine, {.input = model, .output = model}); },
              ThrowsMessage<Error>(HasSubstr("--output and --input are both " + model)));
  EXPECT_THAT([&] { convert_model(engine, {.input = model, .output = vocabulary, .vocabs = {vocabulary}}); },
              ThrowsMessage<Error>(HasSubstr("--output and --vocabs are both " + vocabulary)));
  EXPECT_EQ(read_file(model), "weights");
  EXPECT_EQ(read_file(vocabulary), "pieces");
}

// There is no model either, so it has not been looked for.
TEST(ConvertModel, ChecksTheNameOfAFolderBeforeItReadsTheModel) {
  const TemporaryFolder folder;
  Engine engine({.threads = 1});
  const auto convert = [&](const std::string& output) {
    convert_model(engine, {.input = folder / "no_model", .output = output, .format = ModelFormat::onnx});
  };
  EXPECT_THAT([&] { convert(folder / ""); }, ThrowsMessage<Error>(HasSubstr("already exists, expected the name of")));
  EXPECT_THAT([&] { convert(folder / "no/onnx"); },
              ThrowsMessage<Error>(HasSubstr("there is no folder " + (folder / "no"))));
}

}  // namespace
}  // namespace dragoman
