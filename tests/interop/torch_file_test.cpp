#include "interop/torch_file.h"

#include <gmock/gmock.h>

#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "tests/error_of.h"
#include "tests/interop/golden.h"
#include "tests/interop/torch_stream.h"
#include "tests/source_dir.h"
#include "tests/temporary_folder.h"

namespace dragoman {
namespace {

using namespace std::string_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

std::string torch_file(const std::string& name) { return golden("torch/" + name); }

/// Both forms of a golden file.
class TorchFiles : public testing::TestWithParam<std::string> {
 protected:
  static std::string path(const std::string& name) { return torch_file(name + GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(, TorchFiles, testing::Values(".pt", ".old.pt"),
                         [](const auto& form) { return form.param == ".pt" ? "Archive" : "Stream"; });

template <class T>
std::vector<T> values(const ForeignTensor& tensor) {
  EXPECT_EQ(tensor.dtype, dtype_of<T>()) << tensor.name;
  const auto bytes = tensor.read();
  std::vector<T> result(bytes.size() / sizeof(T));
  if (!result.empty()) std::memcpy(result.data(), bytes.data(), bytes.size());
  return result;
}

std::string error_of_reading(const std::string& path) {
  return error_of([&] {
    for (const ForeignTensor& tensor : state_dict_tensors(path)) tensor.read();
  });
}

std::string name_of(PickleRef value) { return std::string(value->as<PickleObject>()->class_name()); }

TEST_P(TorchFiles, HaveTensorsThatShareStorages) {
  const auto tensors = state_dict_tensors(path("state"));
  ASSERT_THAT(tensors, SizeIs(7));
  EXPECT_EQ(tensors[0].name, "matrix");
  EXPECT_THAT(tensors[0].shape, ElementsAre(3, 4));
  EXPECT_THAT(values<float>(tensors[0]), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
  EXPECT_EQ(tensors[1].name, "transposed");
  EXPECT_THAT(tensors[1].shape, ElementsAre(4, 3));
  EXPECT_THAT(values<float>(tensors[1]), ElementsAre(0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11));
  EXPECT_EQ(tensors[2].name, "view");
  EXPECT_THAT(values<float>(tensors[2]), ElementsAre(5, 6, 9, 10));
  EXPECT_EQ(tensors[3].name, "every_second");
  EXPECT_THAT(values<float>(tensors[3]), ElementsAre(0, 2, 4, 6, 8, 10));
  EXPECT_EQ(tensors[4].name, "parameter");
  EXPECT_THAT(values<float>(tensors[4]), ElementsAre(0.5F, -0.5F));
  EXPECT_THAT(tensors[5].shape, ElementsAre());
  EXPECT_THAT(values<float>(tensors[5]), ElementsAre(7));
  EXPECT_THAT(tensors[6].shape, ElementsAre(5, 0));
  EXPECT_THAT(values<float>(tensors[6]), ElementsAre());
}

TEST_P(TorchFiles, HaveTensorsOfManyTypes) {
  const auto tensors = state_dict_tensors(path("types"));
  ASSERT_THAT(tensors, SizeIs(9));
  EXPECT_THAT(values<float>(tensors[0]), ElementsAre(0, 1, 3));
  const auto halves = values<float16>(tensors[1]);
  const auto brain = values<bfloat16>(tensors[2]);
  ASSERT_TRUE(halves.size() == 3 && brain.size() == 3);
  EXPECT_EQ(float(halves[2]), 3);
  EXPECT_EQ(float(brain[2]), 3);
  EXPECT_THAT(values<double>(tensors[3]), ElementsAre(0, 1, 3));
  EXPECT_THAT(values<int64_t>(tensors[4]), ElementsAre(0, 1, 3));
  EXPECT_THAT(values<int32_t>(tensors[5]), ElementsAre(0, 1, 3));
  EXPECT_THAT(values<int8_t>(tensors[6]), ElementsAre(0, 1, 3));
  EXPECT_THAT(values<uint8_t>(tensors[7]), ElementsAre(0, 1, 3));
  EXPECT_THAT(values<uint8_t>(tensors[8]), ElementsAre(0, 1, 1));
  EXPECT_THAT(error_of_reading(path("short")), HasSubstr("elements of torch.ShortStorage"));
}

TEST_P(TorchFiles, MayBePickledByProtocol4) {
  const auto tensors = state_dict_tensors(path("state4"));
  ASSERT_THAT(tensors, SizeIs(1));
  EXPECT_THAT(values<float>(tensors[0]), ElementsAre(0, 1, 2, 3));
}

// A class that the file names is a name, and a function that it names is not called.
TEST_P(TorchFiles, HaveOtherObjectsAsDataAndExecuteNothing) {
  const auto file = read_torch(path("mixed"));
  ASSERT_TRUE(file);
  const auto& root = *file->root().as<PickleDict>();
  const auto& model = *root.find("model")->as<PickleDict>();
  EXPECT_THAT(values<float>(file->tensor_of(*model.find("weight"), "weight")), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(name_of(root.find("args")), "argparse.Namespace");
  const auto& options = *root.find("args")->as<PickleObject>()->state->as<PickleDict>();
  EXPECT_EQ(*options.find("arch")->as<std::string>(), "transformer");
  EXPECT_EQ(*options.find("layers")->as<int64_t>(), 6);
  EXPECT_EQ(*options.find("dropout")->as<double>(), 0.1);
  EXPECT_EQ(options.find("heads"), nullptr);
  EXPECT_EQ(name_of(root.find("unknown")), "__main__.Unknown");
  const auto& words = *root.find("unknown")->as<PickleObject>()->state->as<PickleDict>()->find("words");
  EXPECT_EQ(*words.as<PickleList>()->items.at(1)->as<std::string>(), "b");
  EXPECT_EQ(*root.find("counts")->as<PickleObject>()->entries.find("a")->as<int64_t>(), 1);
  EXPECT_THAT(*root.find("large")->as<std::vector<std::byte>>(), SizeIs(9));
  EXPECT_EQ(*root.find("small")->as<int64_t>(), -2);
  EXPECT_EQ(name_of(root.find("shape")), "torch.Size");
  EXPECT_EQ(name_of(root.find("hostile")), "posix.system");
  EXPECT_FALSE(std::filesystem::exists("executed_by_the_reader"));
  EXPECT_THAT(error_of_reading(path("mixed")), HasSubstr("tensor model is a dict, expected a tensor"));
  EXPECT_THROW(file->tensor_of(*root.find("hostile"), "hostile"), Error);
}

std::vector<std::vector<std::byte>> contents(const std::string& path) {
  std::vector<std::vector<std::byte>> all;
  for (const ForeignTensor& tensor : state_dict_tensors(path)) all.push_back(tensor.read());
  return all;
}

// All but some archives without bytes of their last records, which hold nothing of the tensors.
TEST_P(TorchFiles, AreRefusedIfAPartIsMissing) {
  const TemporaryFolder folder;
  for (const char* name : {"state", "types"}) {
    const std::string whole = read_file(path(name));
    const auto expected = contents(path(name));
    size_t refused = 0;
    for (size_t size = 0; size < whole.size(); ++size) {
      try {
        EXPECT_EQ(contents(folder.make("m.pt", whole.substr(0, size))), expected) << size;
      } catch (const Error& e) {
        EXPECT_THAT(e.what(), HasSubstr("m.pt"));
        ++refused;
      }
    }
    constexpr size_t end_of_archive = 20 + 22;  // the records that say where the directory is
    EXPECT_GE(refused, whole.size() - (GetParam() == ".pt" ? end_of_archive : 0)) << name;
  }
}

TEST(TorchFile, NeedNotBeThere) {
  const TemporaryFolder folder;
  EXPECT_FALSE(read_torch(folder / "m.pt"));
  EXPECT_THAT(error_of_reading(folder / "m.pt"), HasSubstr("there is no such file"));
  EXPECT_THAT(error_of_reading(folder.make("m.pt", "text")), HasSubstr("m.pt was not written by torch.save"));
  EXPECT_THAT(error_of_reading(folder.make("m.pt", "\x80\x02N.")), HasSubstr("was not written by torch.save"));
  EXPECT_THAT(error_of_reading(folder.make("m.pt", "\x80\x09N.")), HasSubstr("protocol 9"));
  EXPECT_THAT(error_of_reading(source_dir() + "/tests/interop/golden/tied.npz"), HasSubstr("without data.pkl"));
}

TEST(TorchFile, IsRefusedIfSizesDoNotGoTogether) {
  constexpr int64_t huge = INT64_MAX;
  const auto complaint_of = [](auto... changes) {
    TorchTensor tensor{.name = "w", .shape = {2, 3}, .strides = {3, 1}, .data = std::string(24, 1)};
    (changes(tensor), ...);
    const TemporaryFolder folder;
    return error_of_reading(folder.make("m.pt", torch_stream({tensor})));
  };
  const auto layout = [](std::vector<int64_t> shape, std::vector<int64_t> strides, int64_t offset = 0) {
    return [=](TorchTensor& t) { t.shape = shape, t.strides = strides, t.offset = offset; };
  };
  EXPECT_EQ(complaint_of(), "");
  EXPECT_EQ(complaint_of(layout({1, 6}, {huge, 1})), "");  // torch writes any stride there
  EXPECT_EQ(complaint_of(layout({3, 1, 2}, {1, huge, 3})), "");
  EXPECT_EQ(complaint_of(layout({0, huge, huge}, {1, 1, 1})), "");
  for (const auto& lie : {layout({2, 4}, {3, 1}), layout({3, 3}, {3, 1}), layout({2, 3}, {3, 1}, 1),
                          layout({2, 3}, {3, 1}, huge), layout({2, 3}, {4, 1}), layout({2, 3}, {huge, 1}),
                          layout({2, 3}, {huge, huge}), layout({int64_t{1} << 40}, {0})})
    EXPECT_THAT(complaint_of(lie), HasSubstr("m.pt: tensor w: ("));
  EXPECT_THAT(complaint_of(layout({2, 3}, {3, 1}, -1)), HasSubstr("tensor w: its offset is damaged"));
  EXPECT_THAT(complaint_of(layout({2, 3}, {3, -1})), HasSubstr("tensor w: (2,3) has the strides (3,-1)"));
  EXPECT_THAT(complaint_of(layout({2, 3}, {1})), HasSubstr("tensor w: (2,3) has the strides (1)"));
  EXPECT_THAT(complaint_of(layout({-2, 3}, {3, 1})), HasSubstr("tensor w is (-2,3), more than a file can hold"));
  EXPECT_THAT(complaint_of(layout({huge, huge}, {1, 1})), HasSubstr("more than a file can hold"));
  for (const int64_t elements : {int64_t{7}, huge})
    EXPECT_THAT(complaint_of([=](TorchTensor& t) { t.elements = elements, t.stored = 6; }),
                HasSubstr("tensor w: its storage w has 24 bytes, expected "));
  EXPECT_THAT(complaint_of([](TorchTensor& t) { t.elements = -1; }), HasSubstr("the storage is damaged"));
  for (const int64_t stored : {int64_t{7}, int64_t{-1}, huge})
    EXPECT_THAT(complaint_of([=](TorchTensor& t) { t.stored = stored; }), HasSubstr("more than the file can hold"));
}

// A sanitizer finds a product of their sizes.
TEST(ForeignTensor, HasNoRowsIfASizeIsZero) {
  const int64_t huge = std::numeric_limits<int64_t>::max();
  const ForeignTensor none{.name = "w", .shape = {0, huge, huge}, .read = [] { return std::vector<std::byte>(); }};
  EXPECT_EQ(elements_of(none.shape, "m", none.name), 0);
  EXPECT_TRUE(rows_of(none, 0, 0).read().empty());
  EXPECT_TRUE(rows_in_order(none, {}).read().empty());
}

// The key of a storage stands in the pickle of the tensors and in the list of storages.
TEST(TorchFile, IsRefusedIfAStorageIsMissing) {
  std::string file = torch_stream({{.name = "w", .shape = {1}, .strides = {1}, .data = std::string(4, 1)}});
  const TemporaryFolder folder;
  const size_t key = file.rfind("\x8c\x01wa");
  EXPECT_THAT(error_of_reading(folder.make("m.pt", file.substr(0, key) + "." + file.substr(key + 5))),
              HasSubstr("m.pt: tensor w: its storage w is missing"));
  file[key + 2] = 'x';
  EXPECT_THAT(error_of_reading(folder.make("m.pt", file)), HasSubstr("holds a storage that no tensor has"));
}

Pickle pickle(const std::string& opcodes) { return read_pickle(std::as_bytes(std::span(opcodes)), "p"); }

TEST(PickleReader, TakesDepthCyclesAndSharedValues) {
  constexpr size_t depth = 1'000'000;
  EXPECT_THAT(pickle(std::string(depth, ']') + std::string(depth - 1, 'a') + ".").values, SizeIs(depth));
  const Pickle cycle = pickle("]q\0h\0a."s);
  EXPECT_EQ(cycle.root->as<PickleList>()->items.at(0), cycle.root);
  std::string doubled = "N";
  for (int i = 0; i < 100; ++i) doubled += "2\x86";
  EXPECT_THAT(pickle(doubled + ".").values, SizeIs(101));
}

// A list of 1,000 pairs becomes 1,000 dictionaries by 3 bytes each.
TEST(PickleReader, CopiesNoMoreThanTheFileHolds) {
  std::string pairs = "](";
  for (int i = 0; i < 1000; ++i) pairs += "](K\1K\2e";
  pairs +=
      "e\x85q\1"
      "0ccollections\nOrderedDict\nq\2"s;
  EXPECT_THAT(pickle(pairs + "h\1R.").root->as<PickleDict>()->items, SizeIs(1000));
  for (int i = 0; i < 1000; ++i) pairs += "h\2h\1R";
  EXPECT_THROW(pickle(pairs + "."), Error);
}

TEST(PickleReader, RefusesWhatNoPicklerWrites) {
  for (const std::string& opcodes : {""s,
                                     "."s,
                                     "N"s,
                                     "a."s,
                                     "Na."s,
                                     "]a."s,
                                     "(."s,
                                     "t."s,
                                     "e."s,
                                     "]e."s,
                                     "](e"s,
                                     "}(Nu."s,
                                     "](Na."s,
                                     "h\0."s,
                                     "q\0."s,
                                     "\x85."s,
                                     "N\x87."s,
                                     "R."s,
                                     "NNR."s,
                                     "\x93."s,
                                     "NN\x93."s,
                                     "cos\nsystem"s,
                                     "X\xff\xff\xff\xff"s,
                                     "\x8d\xff\xff\xff\xff\xff\xff\xff\xff"s,
                                     "\x8b\xff\xff\xff\xff"s,
                                     "I1\n."s,
                                     "ios\nsystem\n"s,
                                     "c" + std::string(1000, 'x') + "\nx\n."})
    EXPECT_THROW(pickle(opcodes), Error) << testing::PrintToString(opcodes);
}

TEST(TorchFile, IsRefusedIfTwoTensorsHaveOneName) {
  const TorchTensor w{.name = "w", .shape = {1}, .strides = {1}, .data = std::string(4, 1)};
  const TemporaryFolder folder;
  EXPECT_THAT(error_of_reading(folder.make("m.pt", torch_stream({w, w}))), HasSubstr("two tensors named w"));
}

}  // namespace
}  // namespace dragoman
