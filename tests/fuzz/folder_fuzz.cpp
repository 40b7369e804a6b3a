#include <array>
#include <filesystem>

#include "base/file.h"
#include "interop/open_model.h"
#include "tests/fuzz/target.h"
#include "tests/source_dir.h"
#include "tests/temporary_folder.h"

namespace dragoman {
namespace {

constexpr std::array files = {"ct2_marian/model.bin",
                              "ct2_opennmt/model.bin",
                              "ct2_t5/model.bin",
                              "ct2_marian/config.json",
                              "ct2_marian/shared_vocabulary.json",
                              "m2m100/config.json",
                              "m2m100/vocab.json",
                              "m2m100/special_tokens_map.json",
                              "fairseq_old/checkpoint_best.pt",
                              "fairseq_old/dict.en.txt",
                              "opennmt/model_step_100.pt",
                              "joeynmt_words/best.ckpt",
                              "joeynmt_words/config.yaml",
                              "joeynmt_words/src_vocab.txt",
                              "sockeye/params.best",
                              "sockeye/config"};
constexpr std::array models = {"ct2_marian",  "ct2_opennmt", "ct2_t5",        "m2m100",
                               "fairseq_old", "opennmt",     "joeynmt_words", "sockeye"};

std::string golden(const std::string& name) { return source_dir() + "/tests/interop/golden/" + name; }

/// The golden folders, of which one file at a time is another.
class Folders {
 public:
  Folders() {
    for (const char* model : models) {
      std::filesystem::create_directory(folder_ / model);
      for (const auto& entry : std::filesystem::directory_iterator(golden(model)))
        folder_.make(std::string(model) + "/" + entry.path().filename().string(), read_file(entry.path()));
    }
    folder_.make("m2m100/sentencepiece.bpe.model", read_file(source_dir() + "/tests/vocab/golden/bpe.spm"));
  }
  void read_with(const std::string& file, std::string_view content) {
    const std::string sound = read_file(folder_ / file);
    folder_.make(file, content);
    try {
      read_model(folder_ / model_of(file));
    } catch (...) {
      folder_.make(file, sound);
      throw;
    }
    folder_.make(file, sound);
  }

 private:
  // A checkpoint is a file, the others are folders.
  static std::string model_of(const std::string& file) {
    const std::string folder = file.substr(0, file.find('/'));
    if (folder == "fairseq_old") return folder + "/checkpoint_best.pt";
    return folder == "opennmt" ? file : folder;
  }
  static void read_model(const std::string& path) {
    const auto model = read_foreign_model(path);
    if (!model) return;
    for (const TensorEntry& weight : model->weights) weight.make();
  }
  TemporaryFolder folder_;
};

}  // namespace

// A line says which file of a model follows.
std::vector<std::string> seeds() {
  std::vector<std::string> all;
  for (const char* file : files) all.push_back(std::string(file) + "\n" + read_file(golden(file)));
  return all;
}

void read(std::string_view input) {
  static Folders folders;
  for (const std::string file : files)
    if (input.starts_with(file + "\n")) return folders.read_with(file, input.substr(file.size() + 1));
  folders.read_with(files[0], input);
}

}  // namespace dragoman
