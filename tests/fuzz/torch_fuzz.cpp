#include "base/file.h"
#include "interop/torch_file.h"
#include "interop/zip.h"
#include "tests/fuzz/input_file.h"
#include "tests/fuzz/target.h"
#include "tests/source_dir.h"

namespace dragoman {

// The pickle of an archive alone, too: the archive's checksum would refuse most changes.
std::vector<std::string> seeds() {
  const std::string folder = source_dir() + "/tests/interop/golden/torch/";
  std::vector<std::string> all;
  for (const char* name : {"state.pt", "state.old.pt", "state4.old.pt", "types.old.pt"})
    all.push_back(read_file(folder + name));
  for (const char* name : {"state", "mixed"}) {
    const auto pickle = ZipFile(folder + name + ".pt").read(std::string(name) + "/data.pkl");
    all.emplace_back(reinterpret_cast<const char*>(pickle.data()), pickle.size());
  }
  return all;
}

// A pickle, or a file of torch.save.
void read(std::string_view input) {
  constexpr std::string_view dict = "\x80\x02}", ordered =
                                                     "\x80\x02"
                                                     "ccollections";
  if (input.starts_with(dict) || input.starts_with(ordered))
    return void(description_of(*read_pickle(std::as_bytes(std::span(input)), "input").root));
  const InputFile file(input);
  for (const ForeignTensor& tensor : state_dict_tensors(file.path())) tensor.read();
}

}  // namespace dragoman
