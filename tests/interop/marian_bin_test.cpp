#include "interop/marian_bin.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>

#include "base/error.h"
#include "interop/npz.h"
#include "interop/open_model.h"
#include "interop/weight_mapping.h"
#include "io/int8_weights.h"
#include "tests/bytes_of.h"
#include "tests/error_of.h"
#include "tests/source_dir.h"
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

  std::string file() const {
    std::string out = bytes_of<uint64_t>({version, items.size()});
    for (const Item& i : items) out += bytes_of<uint64_t>({i.name.size() + 1, i.type, i.shape.size(), i.data.size()});
    for (const Item& i : items) out += i.name + '\0';
    for (const Item& i : items) out += bytes_of(i.shape);
    out += bytes_of<uint64_t>({3}) + std::string(3, '\0');
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
    "decoder_l1_ffn_W1", 0x10001, {2, 3}, bytes_of<int8_t>({1, -2, 3, -4, 5, 127}) + bytes_of<float>({0.5F})};

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
  const auto tensors = read({{{"W", 0x4102, {1, 2}, bytes_of<int16_t>({512, -2048}) + bytes_of<float>({1024})}}});
  EXPECT_THAT(values<float>(tensors[0].read()), ElementsAre(0.5F, -2));
}

TEST(MarianBin, HasEmbeddingsOfForksAsTheyAre) {
  const auto tensors = read({{{"Wemb", 0x4101, {3, 1}, bytes_of<int8_t>({1, 2, 3}) + bytes_of<float>({1})}}});
  EXPECT_FALSE(tensors[0].transposed);
  EXPECT_THAT(tensors[0].shape, ElementsAre(3, 1));
}

// Rows of ours are outputs: integers pass as they lie, floats and the output layer's integers are turned.
TEST(MarianBin, BecomesRowsOfOutputs) {
  Writer::Item output = in_8_bits, floats{"decoder_l1_ffn_W2", 0x404, {2, 2}, bytes_of<float>({1, 2, 3, 4})};
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

bool is_product(const std::string& name) {
  const size_t at = name.rfind("_W");
  return at != name.npos && name.size() - at <= 4 && name != "decoder_Wemb";
}

float largest(const std::vector<float>& numbers) {
  float most = 0;
  for (const float number : numbers) most = std::max(most, std::abs(number));
  return most;
}

// A tensor as the forks for browsers write it: matrices in 8 bits, those of products transposed, each with its factor,
// and factors of activations beside them.
void add_as_forks(Writer& writer, const ForeignTensor& t) {
  const std::vector<int32_t> shape(t.shape.begin(), t.shape.end());
  const std::vector<std::byte> bytes = t.read();
  if (t.dtype == DType::i8) {
    writer.items.push_back({t.name, 0x101, shape, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}});
    return;
  }
  const auto numbers = values<float>(bytes);
  if (!is_product(t.name) && t.name != "Wemb") {
    writer.items.push_back({t.name, 0x404, shape, bytes_of(numbers)});
    return;
  }
  const float factor = 127 / largest(numbers);
  std::vector<int8_t> integers;
  for (int64_t i = 0; i < std::ssize(numbers); ++i) {
    const int64_t R = t.shape[0], C = t.shape[1], from = is_product(t.name) ? i % R * C + i / R : i;
    integers.push_back(int8_t(std::lround(numbers[size_t(from)] * factor)));
  }
  writer.items.push_back({t.name, 0x4101, shape, bytes_of(integers) + bytes_of<float>({factor})});
  writer.items.push_back({(t.name == "Wemb" ? "none" : t.name) + "_QuantMultA", 0x404, {1}, bytes_of<float>({31.5F})});
}

std::vector<float> numbers_of(const ModelFile& model, const std::string& weight) {
  Arena arena;
  const TensorEntry& stored = model.tensors().get(weight);
  if (stored.dtype == DType::f32) return values_of<float>(stored);
  const Tensor restored = arena.allocate({stored.shape[0], stored.shape[1]}, DType::f32);
  restore_rows(restored, stored, model.tensors());
  return {restored.as<float>(), restored.as<float>() + restored.elements()};
}

// pymarian does not write such files: the model without 8 bits is the judge. An integer is off by half a step at most.
TEST(MarianBin, OfForksIsTheModelButForRounding) {
  const std::string golden = source_dir() + "/tests/interop/golden/";
  const OpenOptions words{.vocabs = {golden + "words.yml", golden + "words.yml"}};
  for (const char* name : {"tied.npz", "ssru.npz", "ssru_norm.npz"}) {
    Writer writer;
    for (const ForeignTensor& t : read_npz(golden + name)) add_as_forks(writer, t);
    const TemporaryFolder folder;
    const ModelFile exact = open_model(golden + name, words),
                    rounded = open_model(folder.make("m.bin", writer.file()), words);
    EXPECT_EQ(rounded.stored_type(), DType::i8);
    for (const TensorEntry& weight : exact.tensors().tensors()) {
      if (weight.name.starts_with("vocabulary.")) continue;
      const std::vector<float> ours = numbers_of(exact, weight.name), theirs = numbers_of(rounded, weight.name);
      ASSERT_EQ(ours.size(), theirs.size()) << weight.name;
      const bool is_matrix = weight.shape.size() == 2;
      const float step = is_matrix ? largest(ours) / 127 : 0;
      for (size_t i = 0; i < ours.size(); ++i) EXPECT_NEAR(ours[i], theirs[i], 0.501F * step) << weight.name;
    }
  }
}

std::string complaint(const Writer& writer) {
  return error_of([&] { read(writer); });
}

TEST(MarianBin, RefusesByNameWhatItCannotRead) {
  Writer packed{{in_8_bits}}, encrypted{{in_8_bits}}, short_of_data{{in_8_bits}}, no_factor{{in_8_bits}};
  packed.items[0].type = 0x13001;
  EXPECT_THAT(complaint(packed), HasSubstr("decoder_l1_ffn_W1 has Marian's type 0x13001, which is packed"));
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
