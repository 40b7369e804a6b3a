#include "interop/write_onnx.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <map>

#include "base/error.h"
#include "base/file.h"
#include "interop/open_model.h"
#include "tests/temporary_folder.h"
#include "tests/toy_model.h"
#include "vocab/wire_format.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;

// What the graph of a file has: fields 1, 5, 11 and 12 of onnx.proto's GraphProto.
struct Graph {
  std::vector<std::string> inputs, outputs, ops;
  std::map<std::string, std::pair<int64_t, size_t>> weights;  // numbers by the shape, and bytes
};

std::string text_in(std::string_view bytes, uint64_t id) {
  Message message(bytes);
  while (const auto field = message.next())
    if (field->id == id) return std::string(field->bytes);
  return "";
}

void add_weight(Graph& graph, std::string_view bytes) {
  Message message(bytes);
  std::string name;
  int64_t numbers = 1;
  size_t size = 0;
  while (const auto field = message.next()) {
    if (field->id == 1) numbers *= int64_t(field->number);
    if (field->id == 8) name = field->bytes;
    if (field->id == 9) size = field->bytes.size();
  }
  EXPECT_FALSE(message.broken());
  EXPECT_TRUE(graph.weights.emplace(name, std::pair(numbers, size)).second) << name << " is there twice";
}

Graph read_graph(const std::string& path) {
  const std::string file = read_file(path);
  const std::string body = text_in(file, 7);
  Graph graph;
  Message message(body);
  while (const auto field = message.next()) {
    if (field->id == 1) graph.ops.push_back(text_in(field->bytes, 4));
    if (field->id == 5) add_weight(graph, field->bytes);
    if (field->id == 11) graph.inputs.push_back(text_in(field->bytes, 1));
    if (field->id == 12) graph.outputs.push_back(text_in(field->bytes, 1));
  }
  EXPECT_FALSE(message.broken());
  return graph;
}

std::string complaint(const ModelConfig& config) {
  TemporaryFolder folder;
  const ModelFile model(save_toy_model(folder / "ours", 1, config));
  try {
    write_onnx(model, folder / "onnx");
  } catch (const Error& e) {
    EXPECT_EQ(folder.files(), 1);
    return e.what();
  }
  return "";
}

TEST(WriteOnnx, WritesTwoGraphsWithTheirWeights) {
  TemporaryFolder folder;
  const ModelFile model(save_toy_model(folder / "ours", 1));
  write_onnx(model, folder / "onnx");
  const Graph encoder = read_graph(folder / "onnx/encoder_model.onnx"),
              decoder = read_graph(folder / "onnx/decoder_model_merged.onnx");
  EXPECT_EQ(encoder.inputs, (std::vector<std::string>{"input_ids", "attention_mask"}));
  EXPECT_EQ(encoder.outputs, (std::vector<std::string>{"last_hidden_state"}));
  for (const char* name : {"input_ids", "encoder_attention_mask", "encoder_hidden_states", "use_cache_branch",
                           "past_key_values.0.decoder.key", "past_key_values.0.encoder.value"})
    EXPECT_THAT(decoder.inputs, Contains(name));
  for (const char* name : {"logits", "present.0.decoder.value", "present.0.encoder.key"})
    EXPECT_THAT(decoder.outputs, Contains(name));
  EXPECT_THAT(decoder.ops, Contains("If"));
  const int64_t V = model.config().target_vocabulary + 1, D = model.config().dim;  // with <pad>
  for (const Graph* graph : {&encoder, &decoder}) {
    const auto [numbers, bytes] = graph->weights.at("embedding.weight");
    EXPECT_EQ(numbers, V * D);
    EXPECT_EQ(bytes, size_t(V * D) * sizeof(float));
  }
  EXPECT_EQ(encoder.weights.at("encoder.0.feed_forward.up.weight").first, D * model.config().feed_forward);
  for (const char* name : {"config.json", "generation_config.json", "vocab.json", "source.spm", "target.spm"})
    EXPECT_TRUE(fs::exists(folder / ("onnx/" + std::string(name)))) << name;
}

TEST(WriteOnnx, GivesAFolderThatIsRefusedByName) {
  TemporaryFolder folder;
  ModelConfig config = toy_config();
  config.norm = NormPlacement::pre;  // which MarianMT does not have
  write_onnx(ModelFile(save_toy_model(folder / "ours", 1, config)), folder / "onnx");
  try {
    open_model(folder / "onnx");
    FAIL() << "read";
  } catch (const Error& e) {
    EXPECT_EQ(e.what(), std::string(folder / "onnx") + " has ONNX models, which dragoman writes but does not read");
  }
}

TEST(WriteOnnx, StoresTheWeightsOfTiedLayersOnce) {
  TemporaryFolder folder;
  ModelConfig config = toy_config();
  config.decoder_layers = 2, config.tied_decoder_layers = {1, 1};
  write_onnx(ModelFile(save_toy_model(folder / "ours", 1, config)), folder / "onnx");
  const Graph decoder = read_graph(folder / "onnx/decoder_model_merged.onnx");
  EXPECT_TRUE(decoder.weights.contains("decoder.0.feed_forward.up.weight"));
  EXPECT_FALSE(decoder.weights.contains("decoder.1.feed_forward.up.weight"));
  EXPECT_THAT(decoder.outputs, Contains("present.1.decoder.value"));
}

TEST(WriteOnnx, StoresBothMatricesOfGatedLayers) {
  TemporaryFolder folder;
  ModelConfig config = toy_config();
  config.gated_feed_forward = true;
  write_onnx(ModelFile(save_toy_model(folder / "ours", 1, config)), folder / "onnx");
  for (const char* side : {"encoder", "decoder"}) {
    const Graph graph = read_graph(
        fmt::format("{}/{}_model{}.onnx", folder / "onnx", side, side == std::string("decoder") ? "_merged" : ""));
    for (const char* half : {"gate", "up"})
      EXPECT_TRUE(graph.weights.contains(fmt::format("{}.0.feed_forward.{}.weight", side, half))) << half;
  }
}

TEST(WriteOnnx, NamesTheFieldThatItCannotWrite) {
  ModelConfig config = toy_config();
  config.positions = Positions::relative;
  EXPECT_THAT(complaint(config), HasSubstr("its 'positions' is relative, which cannot be written as ONNX"));
  config = toy_config();
  config.autoregression = Autoregression::average_attention;
  EXPECT_THAT(complaint(config), HasSubstr("its 'autoregression' is \"average-attention\""));
  config = toy_config();
  config.copies = true;
  EXPECT_THAT(complaint(config), HasSubstr("its 'copies' is true"));
  config = toy_config();
  config.attention.window = 3;
  EXPECT_THAT(complaint(config), HasSubstr("its 'attention_window' is 3"));
}

// MarianTokenizer adds </s> to a source, and nothing else.
TEST(WriteOnnx, RefusesWhatItsTokenizerDoesNotPlaceAroundASource) {
  const auto with = [](void (*change)(GenerationConfig&)) {
    ModelConfig config = toy_config();
    change(config.generation);
    return complaint(config);
  };
  EXPECT_THAT(with([](auto& g) { g.source_bos = true; }), HasSubstr("its 'source_bos' is true"));
  EXPECT_THAT(with([](auto& g) { g.source_eos = false; }), HasSubstr("its 'source_eos' is false"));
  EXPECT_THAT(with([](auto& g) { g.source_language = SourceLanguage::first; }),
              HasSubstr("its 'source_language' is \"first\""));
  EXPECT_THAT(with([](auto& g) { g.target_language = TargetLanguage::source, g.target_language_id = 5; }),
              HasSubstr("its 'target_language_id' names a piece before each source"));
  EXPECT_EQ(with([](auto& g) { g.target_language = TargetLanguage::source; }), "");
  EXPECT_EQ(with([](auto& g) { g.target_language = TargetLanguage::target, g.target_language_id = 5; }), "");
}

TEST(WireFormat, GivesBackWhatWasBuilt) {
  MessageBuilder inner, outer;
  inner.number(3, uint64_t{300});
  inner.number(20, uint64_t(-1));
  inner.number(2, 1.5F);
  outer.bytes(1, "name");
  outer.message(7, inner);
  outer.begin(9, 2);
  const std::string all = outer.text() + "ab";
  Message message(all);
  EXPECT_EQ(message.next()->bytes, "name");
  Message nested(message.next()->bytes);
  EXPECT_EQ(nested.next()->number, 300U);
  const auto large = nested.next();
  EXPECT_EQ(large->id, 20U);
  EXPECT_EQ(large->number, uint64_t(-1));
  EXPECT_EQ(nested.next()->bytes, std::string_view("\0\0\xC0\x3F", 4));
  EXPECT_EQ(nested.next(), std::nullopt);
  EXPECT_EQ(message.next()->bytes, "ab");
  EXPECT_FALSE(message.broken() || nested.broken());
}

}  // namespace
}  // namespace dragoman
