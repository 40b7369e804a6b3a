#include <gmock/gmock.h>

#include "base/file.h"
#include "io/safetensors.h"
#include "tests/io/test_files.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string with_length(const std::string& header) {
  const uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + header;
}

struct DamagedSafetensors : InFolder {
  // The message, or "" if the file is read without complaint. Each complaint has a hint what to do.
  std::string complaint(const std::string& path) const {
    try {
      SafetensorsFile file(path);
      return "";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(path));
      return error.what();
    }
  }

  std::string written() const {
    const std::vector<uint8_t> bytes = {1, 2, 3, 4, 5, 6, 7, 8};
    const auto data = std::as_bytes(std::span(bytes));
    write_safetensors(at("whole"), {{"w", DType::f32, {2, 1}, data}, {"v", DType::u8, {3}, data.first(3)}},
                      {{"config", "{\"dim\":512}"}});
    return read_file(at("whole"));
  }
};

TEST_F(DamagedSafetensors, IsAnErrorWhereverTheFileEnds) {
  const std::string whole = written();
  for (size_t size = 0; size < whole.size(); ++size) EXPECT_NE(complaint(file_of(whole.substr(0, size))), "") << size;
  EXPECT_NE(complaint(file_of(whole + '\0')), "");
}

// The name of the checksum is the one thing that cannot be checked: without it, the rest is read unchecked.
TEST_F(DamagedSafetensors, IsAnErrorWhicheverBitIsFlippedOutsideTheChecksumsName) {
  const std::string whole = written();
  const size_t name = whole.find("checksum");
  for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
    if (bit / 8 >= name && bit / 8 < name + 8) continue;
    std::string flipped = whole;
    flipped[bit / 8] = char(flipped[bit / 8] ^ 1 << bit % 8);
    EXPECT_NE(complaint(file_of(flipped)), "") << "bit " << bit % 8 << " of byte " << bit / 8;
  }
}

TEST_F(DamagedSafetensors, SaysWhatToDoAboutAWrongChecksum) {
  std::string changed = written();
  changed.back() = 9;
  try {
    SafetensorsFile file(file_of(changed));
    FAIL() << "read without complaint";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("checksum"));
    EXPECT_THAT(error.hint(), AllOf(HasSubstr("copy it again"), HasSubstr("edited on purpose")));
  }
}

TEST_F(DamagedSafetensors, KeepsItsChecksumWhenItsContentIsLaidOutInAnotherWay) {
  std::string whole = written();
  const size_t metadata = whole.find(R"("__metadata__")"), first = whole.find(R"("w":)"), end = whole.find("}}", first);
  const std::string moved = whole.substr(first, end + 1 - first) + ',' + whole.substr(metadata, first - 1 - metadata);
  whole.replace(metadata, moved.size(), moved);
  EXPECT_EQ(complaint(file_of(whole)), "");
}

TEST_F(DamagedSafetensors, IsAnErrorIfTheFileIsNone) {
  EXPECT_THAT(complaint(at("nowhere")), HasSubstr("nowhere"));
  EXPECT_THAT(complaint(at(".")), HasSubstr("folder"));
  EXPECT_THAT(complaint(file_of("")), HasSubstr("has 0 bytes, expected at least 8"));
  EXPECT_THAT(complaint(file_of("PK\x03\x04 an npz file of another toolkit")),
              HasSubstr("is a zip archive, expected a model"));
  EXPECT_THAT(complaint(file_of("A dog runs through the grass.\n")), HasSubstr("is text, expected a model"));
  EXPECT_THAT(complaint(file_of(std::string(1000, '\0'))), HasSubstr("not a JSON object"));
}

struct Case {
  const char* header;
  const char* complaint;
};

// Each header is followed by eight bytes of data.
constexpr Case cases[] = {
    {"", "not a JSON object"},
    {"[1, 2]", "not a JSON object"},
    {"{\"a\":", "not a JSON object"},
    {"{\"\xff\":1}", "not a JSON object"},
    {R"({"a":1e999})", "not a JSON object"},
    {" {}", "not a JSON object"},
    {R"({})", "has 8 bytes of data, expected 0"},
    {R"({"__metadata__":[]})", "metadata of type array"},
    {R"({"__metadata__":{"version":1}})", "metadata version of type number, expected text"},
    {R"({"a":8})", "tensor a described by number"},
    {R"({"a":{"shape":[8],"data_offsets":[0,8]}})", "tensor a without a dtype"},
    {R"({"a":{"dtype":8,"shape":[8],"data_offsets":[0,8]}})", "tensor a without a dtype"},
    {R"({"a":{"dtype":"F8_E4M3","shape":[8],"data_offsets":[0,8]}})",
     "tensor a is of type F8_E4M3, expected one of F64, F32, BF16, F16, I64, I32, I8, U8"},
    {R"({"a":{"dtype":"U8","data_offsets":[0,8]}})", "tensor a without a valid shape"},
    {R"({"a":{"dtype":"U8","shape":[-8],"data_offsets":[0,8]}})", "tensor a without a valid shape"},
    {R"({"a":{"dtype":"U8","shape":[8.0],"data_offsets":[0,8]}})", "tensor a without a valid shape"},
    {R"({"a":{"dtype":"U8","shape":[9223372036854775808],"data_offsets":[0,8]}})", "tensor a without a valid shape"},
    {R"({"a":{"dtype":"U8","shape":[8]}})", "tensor a without valid data_offsets"},
    {R"({"a":{"dtype":"U8","shape":[8],"data_offsets":[0,8,8]}})", "tensor a without valid data_offsets"},
    {R"({"a":{"dtype":"U8","shape":[8],"data_offsets":[8,0]}})", "tensor a without valid data_offsets"},
    {R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", "tensor a of 8 bytes, expected 12 (F32 of 3)"},
    {R"({"a":{"dtype":"F32","shape":[4611686018427387904,2],"data_offsets":[0,8]}})", "more than any file can hold"},
    {R"({"a":{"dtype":"U8","shape":[16],"data_offsets":[0,16]}})", "up to byte 16 of the data, which ends at 8"},
    {R"({"a":{"dtype":"U8","shape":[7],"data_offsets":[1,8]}})", "tensor a from byte 1 of the data, expected 0"},
    {R"({"a":{"dtype":"U8","shape":[7],"data_offsets":[0,7]}})", "has 8 bytes of data, expected 7"},
    {R"({"a":{"dtype":"U8","shape":[5],"data_offsets":[0,5]},"b":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}})",
     "tensor b from byte 4 of the data, expected 5"},
    {R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},"b":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}})",
     "tensor b from byte 4 of the data, expected 3"},
};

TEST_F(DamagedSafetensors, IsAnErrorThatSaysWhatIsWrongWithTheHeader) {
  for (const Case& c : cases)
    EXPECT_THAT(complaint(file_of(with_length(c.header) + "12345678")), HasSubstr(c.complaint)) << c.header;
  EXPECT_EQ(complaint(file_of(with_length(R"({"a":{"dtype":"U8","shape":[8],"data_offsets":[0,8]}} )") + "12345678")),
            "");
}

TEST_F(DamagedSafetensors, TakesNoMemoryForAHeaderThatIsNotThere) {
  EXPECT_THAT(complaint(file_of("\xff\xff\xff\xff\xff\xff\xff\x7f{}")), HasSubstr("header length"));
  EXPECT_THAT(complaint(file_of(std::string("\x00\x00\x00\x01\x00\x00\x00\x00{}", 10))), HasSubstr("but 2 follow"));
}

TEST_F(DamagedSafetensors, SurvivesAHeaderOfDeepNesting) {
  EXPECT_THAT(complaint(file_of(with_length(std::string(1'000'000, '[')))), HasSubstr("not a JSON object"));
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  EXPECT_THAT(complaint(file_of(with_length("{\"a\":" + deep + "}"))), HasSubstr("not a JSON object"));
  const std::string quoted = "{\"__metadata__\":{\"a\":\"\\\"" + std::string(1000, '[') + "\"}}";
  EXPECT_EQ(complaint(file_of(with_length(quoted))), "") << "brackets in text nest nothing";
}

}  // namespace
}  // namespace dragoman
