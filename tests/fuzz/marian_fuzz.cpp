#include "base/file.h"
#include "interop/marian_bin.h"
#include "interop/marian_config.h"
#include "interop/npz.h"
#include "tests/fuzz/input_file.h"
#include "tests/fuzz/target.h"
#include "tests/source_dir.h"

namespace dragoman {

std::vector<std::string> seeds() {
  const std::string folder = source_dir() + "/tests/interop/golden/";
  return {read_file(folder + "tied.npz"), read_file(folder + "tied.bin"),
          "type: transformer\ndim-emb: 8\ntransformer-tied-layers:\n  - 1\nversion: v1.12.42\n"};
}

// An archive, the binary format, or the options of a model.
void read(std::string_view input) {
  if (input.starts_with("type")) return void(marian_config(std::string(input), "input"));
  const InputFile file(input);
  const bool zip = input.starts_with("PK");
  for (const ForeignTensor& tensor : zip ? read_npz(file.path()) : read_marian_bin(file.path())) tensor.read();
}

}  // namespace dragoman
