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

}  // namespace
}  // namespace dragoman
