#include "io/safetensors.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "tests/error_of.h"
#include "tests/io/test_files.h"
#include "tests/source_dir.h"

namespace dragoman {
namespace {

using testing::ElementsAre;

const std::string tests = source_dir() + "/tests/";

template <class T>
std::span<const std::byte> bytes_of(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

struct Safetensors : InFolder {
  const std::vector<uint8_t> letters = {'d', 'r', 'a'};
  const std::vector<float> weights = {1, 2, 3, 4, 5, 6};
  const std::vector<int64_t> count = {42};
  const std::vector<TensorEntry> tensors = {{"vocabulary.source", DType::u8, {3}, bytes_of(letters)},
                                            {"embedding.weight", DType::f32, {2, 3}, bytes_of(weights)},
                                            {"empty", DType::f16, {0, 7}, {}},
                                            {"updates", DType::i64, {}, bytes_of(count)}};
};

TEST_F(Safetensors, ReadsWhatPythonWroteInEveryType) {
  const SafetensorsFile file(tests + "io/python.safetensors");
  EXPECT_EQ(file.metadata(), (Metadata{{"what", "Grüße, \"you\""}}));
  EXPECT_EQ(file.tensors().size(), 10u);
  EXPECT_THAT(values_of<double>(file.get("f64")), ElementsAre(1.5, -2.0, 0.1));
  EXPECT_THAT(values_of<float>(file.get("f32")), ElementsAre(0.5f, -0.25f));
  EXPECT_THAT(values_of<int64_t>(file.get("i64")), ElementsAre(-1, int64_t{1} << 40));
  EXPECT_THAT(values_of<int32_t>(file.get("i32")), ElementsAre(7, -8));
  EXPECT_THAT(values_of<int8_t>(file.get("i8")), ElementsAre(-128, 0, 127));
  EXPECT_THAT(values_of<uint8_t>(file.get("u8")), ElementsAre(0, 127, 255));
  EXPECT_THAT(values_of<float>(file.get("number")), ElementsAre(2.75f));
  EXPECT_EQ(file.get("bf16").dtype, DType::bf16);
  EXPECT_THAT(file.get("bf16").bytes, ElementsAre(std::byte{0x80}, std::byte{0x3f}, std::byte{0}, std::byte{0xc0}));
  EXPECT_EQ(file.get("f16").dtype, DType::f16);
  EXPECT_THAT(file.get("f16").bytes, ElementsAre(std::byte{0}, std::byte{0x3c}, std::byte{0}, std::byte{0xc0}));
}

TEST_F(Safetensors, KeepsShapesOfAnyRank) {
  const SafetensorsFile file(tests + "io/python.safetensors");
  EXPECT_THAT(file.get("i32").shape, ElementsAre(2, 1, 1));
  EXPECT_THAT(file.get("number").shape, ElementsAre());
  EXPECT_THAT(file.get("nothing").shape, ElementsAre(0, 4));
  EXPECT_TRUE(file.get("nothing").bytes.empty());
}

// KiB, of this process; "VmHWM" is the most there has been since `echo 5 > clear_refs`.
int64_t memory(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(field + ":")) return std::stoll(line.substr(field.size() + 1));
  return 0;
}

TEST_F(Safetensors, ChecksAFileWithoutHoldingIt) {
  const int64_t mebibytes = 64;
  write_safetensors(at("m"), {{"w", DType::u8, {mebibytes << 20}, bytes_of(std::vector<char>(mebibytes << 20))}}, {});
  if (!(std::ofstream("/proc/self/clear_refs") << "5" << std::flush)) GTEST_SKIP() << "the peak cannot be reset here";
  const int64_t before = memory("VmRSS");
  const SafetensorsFile file(at("m"));
  EXPECT_LT(memory("VmHWM") - before, 16 << 10);
}

TEST_F(Safetensors, ReadsTheGoldenFiles) {
  const SafetensorsFile file(tests + "golden/post_norm.safetensors");
  EXPECT_EQ(nlohmann::json::parse(file.metadata().at("config"))["norm"], "post");
  EXPECT_THAT(file.get("p/embedding.weight").shape, ElementsAre(23, 16));
  EXPECT_THAT(values_of<int32_t>(file.get("source.offsets")), ElementsAre(0, 5, 6, 13, 16));
}

TEST_F(Safetensors, ReadsWhatItWrote) {
  write_safetensors(at("m"), tensors, {{"format", "dragoman"}, {"config", "{\"dim\": 3}\n"}});
  const SafetensorsFile file(at("m"));
  EXPECT_EQ(file.metadata().at("format"), "dragoman");
  EXPECT_EQ(file.metadata().at("config"), "{\"dim\": 3}\n");
  ASSERT_EQ(file.tensors().size(), tensors.size());
  for (const TensorEntry& written : tensors) {
    const TensorEntry& read = file.get(written.name);
    EXPECT_EQ(read.dtype, written.dtype);
    EXPECT_EQ(read.shape, written.shape);
    EXPECT_TRUE(std::ranges::equal(read.bytes, written.bytes)) << written.name;
  }
}

TEST_F(Safetensors, WritesTheBytesThatTheFormatAsksFor) {
  write_safetensors(at("m"), {{"b", DType::u8, {3}, bytes_of(letters)}, {"a", DType::i64, {}, bytes_of(count)}}, {});
  const std::string content = read_file(at("m"));
  std::string header = R"({"__metadata__":{"checksum":"################"},)"
                       R"("a":{"dtype":"I64","shape":[],"data_offsets":[0,8]},)"
                       R"("b":{"dtype":"U8","shape":[3],"data_offsets":[8,11]}})";
  header += "       ";  // 153 characters, filled up to 160 = 0xa0
  ASSERT_EQ(content.size(), 8 + 160 + 11u);
  const size_t checksum = 8 + header.find('#');
  std::string masked = content;
  masked.replace(checksum, 16, 16, '#');
  EXPECT_EQ(masked, std::string("\xa0\0\0\0\0\0\0\0", 8) + header + std::string("\x2a\0\0\0\0\0\0\0dra", 11));
}

TEST_F(Safetensors, AlignsEveryTensorToItsType) {
  write_safetensors(at("m"), tensors, {{"length", "to shift the data"}});
  const SafetensorsFile file(at("m"));
  for (const TensorEntry& tensor : file.tensors())
    EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.bytes.data()) % size_t(size_of(tensor.dtype)), 0u) << tensor.name;
}

TEST_F(Safetensors, WritesTheSameBytesForTheSameContentInAnyOrder) {
  write_safetensors(at("forward"), tensors, {{"format", "dragoman"}});
  write_safetensors(at("backward"), {tensors.rbegin(), tensors.rend()}, {{"format", "dragoman"}});
  EXPECT_EQ(read_file(at("forward")), read_file(at("backward")));
}

TEST_F(Safetensors, HoldsNoTensorsIfThereAreNone) {
  write_safetensors(at("m"), {}, {});
  EXPECT_TRUE(SafetensorsFile(at("m")).tensors().empty());
}

TEST_F(Safetensors, KeepsItsTensorsWhenItIsMoved) {
  write_safetensors(at("m"), tensors, {});
  SafetensorsFile first(at("m"));
  const SafetensorsFile second = std::move(first);
  EXPECT_THAT(values_of<int64_t>(second.get("updates")), ElementsAre(42));
}

TEST_F(Safetensors, ReadsAFileWhileItIsReplaced) {
  write_safetensors(at("m"), tensors, {});
  const SafetensorsFile old(at("m"));
  write_safetensors(at("m"), {}, {});
  EXPECT_THAT(values_of<int64_t>(old.get("updates")), ElementsAre(42));
}

TEST_F(Safetensors, FindsTensorsByTheirWholeName) {
  write_safetensors(at("m"), tensors, {});
  const SafetensorsFile file(at("m"));
  EXPECT_NE(file.find("updates"), nullptr);
  EXPECT_EQ(file.find("update"), nullptr);
  EXPECT_EQ(file.find(""), nullptr);
  EXPECT_EQ(file.find("zebra"), nullptr);
}

TEST_F(Safetensors, RefusesToWriteWhatCannotBeRead) {
  const auto writing = [&](std::vector<TensorEntry> entries, Metadata metadata = {}) {
    return error_of([&] { write_safetensors(at("m"), entries, metadata); });
  };
  EXPECT_THAT(writing({tensors[0], tensors[0]}), testing::HasSubstr("two tensors are named vocabulary.source"));
  EXPECT_THAT(writing({{"__metadata__", DType::u8, {3}, bytes_of(letters)}}), testing::HasSubstr("__metadata__"));
  EXPECT_THAT(writing({{"w", DType::f32, {2, 2}, bytes_of(weights)}}),
              testing::HasSubstr("tensor w has 24 bytes for F32 of 2 x 2"));
  EXPECT_THAT(writing({}, {{"path", "\xff"}}), testing::HasSubstr("not valid UTF-8"));
  EXPECT_FALSE(std::filesystem::exists(at("m")));
}

TEST_F(Safetensors, SaysWhichTensorIsMissingOrOfAnotherType) {
  write_safetensors(at("m"), tensors, {});
  const SafetensorsFile file(at("m"));
  EXPECT_EQ(error_of([&] { file.get("decoder.norm.weight"); }), at("m") + " has no tensor decoder.norm.weight");
  EXPECT_EQ(error_of([&] { values_of<double>(file.get("updates")); }), "tensor updates is of type I64, expected F64");
}

}  // namespace
}  // namespace dragoman
