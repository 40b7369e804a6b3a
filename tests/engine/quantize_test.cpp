#include "dragoman/quantize.h"

#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>

#include "base/file.h"
#include "dragoman/engine.h"
#include "dragoman/error.h"
#include "dragoman/text_translator.h"
#include "io/load_model.h"
#include "tests/temporary_folder.h"
#include "tests/toy_model.h"

namespace dragoman {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

class QuantizeTest : public testing::Test {
 protected:
  TemporaryFolder folder;
  const std::string model = save_toy_model(folder / "m", 1), output = folder / "q";
  const std::string text = folder.make("text", "a red house\nthe book\n");
  Engine engine{{.threads = 1}};
};

TEST_F(QuantizeTest, WritesASmallerModelOnItsEngine) {
  const QuantizeResult result = quantize(engine, {.model = model, .output = output});
  EXPECT_EQ(ModelFile(output).stored_type(), DType::i8);
  EXPECT_EQ(result.bytes_before, int64_t(std::filesystem::file_size(model)));
  EXPECT_EQ(result.bytes_after, int64_t(std::filesystem::file_size(output)));
  EXPECT_LT(result.bytes_after, result.bytes_before);
  EXPECT_FALSE(result.float32 || result.int8);
}

TEST_F(QuantizeTest, MeasuresQualityWhereThereIsText) {
  const QuantizeResult result =
      quantize(engine, {.model = model, .output = output, .valid_sets = {text, text}, .beam_size = 1});
  ASSERT_TRUE(result.float32 && result.int8);
  TextTranslator translator(engine, {.models = {model}, .search = {.beam_size = 1}});
  std::string translated;
  for (const std::string& line : translator.translate({"a red house", "the book"})) translated += line + "\n";
  const Evaluation e = evaluate(engine, {.references = {text}, .hypotheses = {folder.make("hyp", translated)}});
  EXPECT_EQ(result.float32->bleu, e.systems[0].scores[0].score);
  EXPECT_EQ(result.float32->chrf, e.systems[0].scores[1].score);
}

TEST_F(QuantizeTest, RefusesOptionsOutOfRange) {
  EXPECT_THAT([&] { quantize(engine, {.model = model, .output = output, .beam_size = 0}); },
              ThrowsMessage<Error>("--beam-size: 0 is out of range, expected from 1 to 1024"));
  for (const double gate : {-1.0, 101.0, std::nan("")})
    EXPECT_THAT([&] { quantize(engine, {.model = model, .output = output, .gate = gate}); },
                ThrowsMessage<Error>(HasSubstr("--gate: ")));
  EXPECT_THAT([&] { quantize(engine, {.model = model, .output = output, .tokenize = Tokenizer(17)}); },
              ThrowsMessage<Error>(HasSubstr("tokenize")));
  EXPECT_FALSE(std::filesystem::exists(output));
}

TEST_F(QuantizeTest, RefusesToOverwriteWhatItReads) {
  const std::string before = read_file(model);
  EXPECT_THAT([&] { quantize(engine, {.model = model, .output = model}); },
              ThrowsMessage<Error>(HasSubstr("--output and --model are both " + model)));
  EXPECT_THAT(
      [&] {
        quantize(engine, {.model = model, .output = text, .valid_sets = {text, text}});
      },
      ThrowsMessage<Error>(HasSubstr("--output and --valid-sets are both " + text)));
  EXPECT_EQ(read_file(model), before);
}

TEST_F(QuantizeTest, RefusesOneFileOfAPair) {
  EXPECT_THAT([&] { quantize(engine, {.model = model, .output = output, .valid_sets = {text}}); },
              ThrowsMessage<Error>("--valid-sets takes two files, source and target, found 1"));
  EXPECT_FALSE(std::filesystem::exists(output));
}

TEST_F(QuantizeTest, RefusesWhatIsQuantizedAlreadyAndWritesNothing) {
  quantize(engine, {.model = model, .output = output});
  EXPECT_THAT([&] { quantize(engine, {.model = output, .output = folder / "again"}); },
              ThrowsMessage<Error>(HasSubstr("already in 8 bits")));
  EXPECT_FALSE(std::filesystem::exists(folder / "again"));
}

}  // namespace
}  // namespace dragoman
