#include "interop/npz.h"

#include <gmock/gmock.h>
#include <zip.h>  // of minizip

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "interop/file_set.h"
#include "interop/torch_file.h"
#include "interop/weight_mapping.h"
#include "tests/bytes_of.h"
#include "tests/error_of.h"
#include "tests/source_dir.h"
#include "tests/temporary_folder.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string array(const std::string& dictionary, const std::string& data) {
  std::string header = dictionary;
  header.resize((header.size() + 64) / 64 * 64, ' ');
  return std::string("\x93NUMPY\x01\x00", 8) + char(header.size() % 256) + char(header.size() / 256) + header + data;
}

std::string floats(const std::string& shape, const std::vector<float>& values, const char* order = "False") {
  return array("{'descr': '<f4', 'fortran_order': " + std::string(order) + ", 'shape': " + shape + ", }",
               bytes_of(values));
}

std::string save(const TemporaryFolder& folder, const std::string& name, const std::string& content) {
  const std::string path = folder / "m.npz";
  const zipFile zip = zipOpen64(path.c_str(), APPEND_STATUS_CREATE);
  zipOpenNewFileInZip(zip, name.c_str(), nullptr, nullptr, 0, nullptr, 0, nullptr, Z_DEFLATED, Z_DEFAULT_COMPRESSION);
  zipWriteInFileInZip(zip, content.data(), unsigned(content.size()));
  zipCloseFileInZip(zip);
  zipClose(zip, nullptr);
  return path;
}

std::vector<float> read(const ForeignTensor& tensor) {
  const auto stored = tensor.read();
  std::vector<float> values(stored.size() / 4);
  std::memcpy(values.data(), stored.data(), stored.size());
  return values;
}

TEST(Npz, HasArraysInTheOrderOfC) {
  const TemporaryFolder folder;
  const auto rows = read_npz(save(folder, "a.npy", floats("(2, 3)", {1, 2, 3, 4, 5, 6})));
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].name, "a");
  EXPECT_THAT(rows[0].shape, ElementsAre(2, 3));
  EXPECT_THAT(read(rows[0]), ElementsAre(1, 2, 3, 4, 5, 6));
  const auto columns = read_npz(save(folder, "a.npy", floats("(2, 3)", {1, 4, 2, 5, 3, 6}, "True")));
  EXPECT_THAT(read(columns[0]), ElementsAre(1, 2, 3, 4, 5, 6));
  const auto vector = read_npz(save(folder, "a.npy", floats("(2,)", {7, 8})));
  EXPECT_THAT(vector[0].shape, ElementsAre(2));
}

std::string complaint(const std::string& content) {
  const TemporaryFolder folder;
  return error_of([&] { read_npz(save(folder, "a.npy", content)); });
}

TEST(Npz, RefusesHeadersThatDoNotGoWithTheirData) {
  EXPECT_THAT(complaint(floats("(2, 3)", {1, 2, 3})), HasSubstr("expected"));
  EXPECT_THAT(complaint(floats("(4611686018427387904, 8)", {1})), HasSubstr("more than a file can hold"));
  EXPECT_THAT(complaint(floats("(-1,)", {1})), HasSubstr("more than a file can hold"));
  EXPECT_THAT(complaint(array("{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }", bytes_of<float>({1}))),
              HasSubstr("of type >f4"));
  EXPECT_THAT(complaint(array("{'descr': __import__('os'), 'shape': (1,), }", "")), HasSubstr("damaged"));
  EXPECT_THAT(complaint("no array"), HasSubstr("not a NumPy array"));
}

TEST(Npz, RefusesWhatIsNoArchiveOrIsDamaged) {
  const TemporaryFolder folder;
  EXPECT_THROW(read_npz(folder.make("m.npz", "text")), Error);
  EXPECT_THROW(read_npz(folder / "absent.npz"), Error);
  const std::string path = save(folder, "a.npy", floats("(64,)", std::vector<float>(64, 1.5F)));
  const std::string whole = folder.content_of("m.npz");
  int refused = 0;  // all but some without the last bytes of the archive, which hold nothing of the arrays
  for (size_t size = 0; size < whole.size(); ++size) {
    try {
      EXPECT_EQ(read(read_npz(folder.make("m.npz", whole.substr(0, size))).at(0)), std::vector<float>(64, 1.5F))
          << size;
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GE(refused, int(whole.size()) - 8);
}

TEST(ZipFile, RefusesToParseWhatExpandsAsAZipBombDoes) {
  const TemporaryFolder folder;
  const auto complaint = [&](const std::string& name, const std::string& content, const auto& parse) -> std::string {
    try {
      parse(save(folder, name, content));
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  const auto options = [](const std::string& path) { text_of(read_npz(path).at(0)); };
  const auto pickle = [](const std::string& path) { read_torch(path); };
  const auto json = [](const std::string& path) { FileSet::of_archive(ZipFile(path), "x/").text("config.json"); };
  const std::string many(2'000'000, ' '), fewer(1'000'000, ' ');
  const std::string yaml = array("{'descr': '|i1', 'fortran_order': False, 'shape': (2000000,), }", many);
  EXPECT_THAT(complaint("special:model.yml.npy", yaml, options),
              HasSubstr("m.npz: special:model.yml.npy has 2000074 bytes, decompressed from "));
  EXPECT_THAT(complaint("a/data.pkl", many, pickle),
              HasSubstr("m.npz: a/data.pkl has 2000000 bytes, decompressed from "));
  EXPECT_THAT(complaint("x/config.json", many, json), HasSubstr("m.npz: x/config.json has 2000000 bytes"));
  EXPECT_EQ(complaint("x/config.json", fewer, json), "");
  EXPECT_EQ(complaint("weights.npy", yaml, options), "");  // weights may be all zeros
}

TEST(ZipFile, GivesTheBytesOfStoredEntriesWithoutCopyingThem) {
  const ZipFile zip(source_dir() + "/tests/interop/golden/torch/state.pt");
  int storages = 0;
  for (const ZipFile::Entry& entry : zip.entries()) {
    if (entry.name.find("/data/") == std::string::npos) continue;
    const auto first = zip.stored(entry.name), again = zip.stored(entry.name);
    EXPECT_EQ(first.data(), again.data());
    EXPECT_TRUE(std::ranges::equal(first, zip.read(entry.name)));
    ++storages;
  }
  EXPECT_GT(storages, 0);
  const TemporaryFolder folder;
  const ZipFile compressed(save(folder, "a/data/0", std::string(1000, ' ')));
  EXPECT_THROW(compressed.stored("a/data/0"), Error);
}

// Packers may write a folder more than once.
TEST(ZipFile, IsRefusedIfTwoFilesHaveOneName) {
  const TemporaryFolder folder;
  const auto with_two = [&](const char* name) {
    const std::string path = folder / "m.npz";
    zipFile zip = zipOpen(path.c_str(), APPEND_STATUS_CREATE);
    for (int i = 0; i < 2; ++i) {
      zipOpenNewFileInZip(zip, name, nullptr, nullptr, 0, nullptr, 0, nullptr, 0, 0);
      zipCloseFileInZip(zip);
    }
    zipClose(zip, nullptr);
    return path;
  };
  EXPECT_THROW(ZipFile{with_two("a.npy")}, Error);
  EXPECT_NO_THROW(ZipFile{with_two("a/")});
}

TEST(WeightMapping, RefusesEightBitsWithoutScales) {
  WeightMapping weights("m", {{.name = "w", .dtype = DType::i8, .shape = {2, 2}, .read = nullptr}});
  EXPECT_THROW(weights.matrix("ours", "w", MatrixRows::outputs), Error);
}

TEST(FileSet, HasALinkToNothingSoThatItIsNotPassedOver) {
  const TemporaryFolder folder;
  std::filesystem::create_symlink("nowhere", folder / "source.spm");
  EXPECT_TRUE(FileSet::of_folder(folder / "").has("source.spm"));
}

}  // namespace
}  // namespace dragoman
