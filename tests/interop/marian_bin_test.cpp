#include "interop/marian_bin.h"

#include <gmock/gmock.h>

#include <cstring>

#include "base/error.h"
#include "interop/weight_mapping.h"
#include "tests/temporary_folder.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Writes Marian's MODEL.bin, version 1.
struct Writer {
  struct Item {
    std::string name;
    uint64_t type;
    std::vector<int32_t> shape;
    std::string data;
  };
  std::vector<Item> items;
  uint64_t version = 1;

  template <class T>
  static std::string bytes(const std::vector<T>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
  }
  std::string file() const {
    std::string out = bytes<uint64_t>({version, items.size()});
    for (const Item& i : items) out += bytes<uint64_t>({i.name.size() + 1, i.type, i.shape.size(), i.data.size()});
    for (const Item& i : items) out += i.name + '\0';
    for (const Item& i : items) out += bytes(i.shape);
    out += bytes<uint64_t>({3}) + std::string(3, '\0');
    for (const Item& i : items) out += i.data;
    return out;
  }
};

template <class T>
std::vector<T> values(const std::vector<std::byte>& bytes) {
  std::vector<T> numbers(bytes.size() / sizeof(T));
  std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

std::vector<ForeignTensor> read(const Writer& writer) {
  const TemporaryFolder folder;
  return read_marian_bin(folder.make("m.bin", writer.file()));  // stays mapped
}

// A matrix (2,3) of three inputs' … two rows; its integers lie as (3,2), and 0.5 is the factor: values are doubled.
const Writer::Item in_8_bits{
    "decoder_l1_ffn_W1", 0x10001, {2, 3}, Writer::bytes<int8_t>({1, -2, 3, -4, 5, 127}) + Writer::bytes<float>({0.5F})};

TEST(MarianBin, HasIntegersTransposedAndAFactor) {
  const auto tensors = read({{in_8_bits}});
  ASSERT_EQ(tensors.size(), 1U);
  EXPECT_EQ(tensors[0].dtype, DType::i8);
  EXPECT_THAT(tensors[0].shape, ElementsAre(3, 2));
  EXPECT_EQ(tensors[0].scale, 2);
  EXPECT_TRUE(tensors[0].transposed);
  EXPECT_THAT(values<int8_t>(tensors[0].read()), ElementsAre(1, -2, 3, -4, 5, 127));
}

TEST(MarianBin, MakesFloatsOfSixteenBits) {
  const auto tensors =
      read({{{"W", 0x4102, {1, 2}, Writer::bytes<int16_t>({512, -2048}) + Writer::bytes<float>({1024})}}});
  EXPECT_THAT(values<float>(tensors[0].read()), ElementsAre(0.5F, -2));
}

TEST(MarianBin, HasEmbeddingsOfForksAsTheyAre) {
  const auto tensors = read({{{"Wemb", 0x4101, {3, 1}, Writer::bytes<int8_t>({1, 2, 3}) + Writer::bytes<float>({1})}}});
  EXPECT_FALSE(tensors[0].transposed);
  EXPECT_THAT(tensors[0].shape, ElementsAre(3, 1));
}

// Rows of ours are outputs: integers pass as they lie, floats and the output layer's integers are turned.
TEST(MarianBin, BecomesRowsOfOutputs) {
  Writer::Item output = in_8_bits, floats{"decoder_l1_ffn_W2", 0x404, {2, 2}, Writer::bytes<float>({1, 2, 3, 4})};
  output.name = "decoder_ff_logit_out_Wt";
  WeightMapping weights("m.bin", read({{in_8_bits, output, floats}}));
  weights.matrix("up.weight", in_8_bits.name, MatrixRows::inputs);
  weights.matrix("output.weight", output.name, MatrixRows::outputs);
  weights.matrix("down.weight", floats.name, MatrixRows::inputs);
  const auto made = weights.take();
  ASSERT_EQ(made.size(), 5U);
  EXPECT_THAT(made[0].shape, ElementsAre(3, 2));
  EXPECT_THAT(values<int8_t>(made[0].make()), ElementsAre(1, -2, 3, -4, 5, 127));
  EXPECT_EQ(made[1].name, "up.weight_scale");
  EXPECT_THAT(values<float>(made[1].make()), ElementsAre(2, 2, 2));
  EXPECT_THAT(made[2].shape, ElementsAre(2, 3));
  EXPECT_THAT(values<int8_t>(made[2].make()), ElementsAre(1, 3, 5, -2, -4, 127));
  EXPECT_THAT(values<float>(made[4].make()), ElementsAre(1, 3, 2, 4));
}

std::string complaint(const Writer& writer) {
  try {
    read(writer);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(MarianBin, RefusesByNameWhatItCannotRead) {
  Writer packed{{in_8_bits}}, encrypted{{in_8_bits}}, short_of_data{{in_8_bits}}, no_factor{{in_8_bits}};
  packed.items[0].type = 0x13001;
  EXPECT_THAT(complaint(packed), HasSubstr("decoder_l1_ffn_W1 is of Marian's type 0x13001, which is packed"));
  encrypted.version = 2;
  EXPECT_THAT(complaint(encrypted), HasSubstr("encrypted"));
  short_of_data.items[0].shape = {1 << 30, 1 << 30};
  EXPECT_THAT(complaint(short_of_data), HasSubstr("more than a file can hold"));
  no_factor.items[0].data.resize(6);
  EXPECT_THAT(complaint(no_factor), HasSubstr("has 6 bytes, expected 6 and a factor"));
}

TEST(MarianBin, RefusesAFileThatEndsEarly) {
  const TemporaryFolder folder;
  const std::string whole = Writer{{in_8_bits}}.file();
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_THROW(read_marian_bin(folder.make("m.bin", whole.substr(0, size))), Error) << size;
}

}  // namespace
}  // namespace dragoman
