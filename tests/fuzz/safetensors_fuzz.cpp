#include "io/safetensors.h"
#include "tests/fuzz/input_file.h"
#include "tests/fuzz/target.h"
#include "tests/source_dir.h"

namespace dragoman {

std::vector<std::string> seeds() {
  return {read_file(source_dir() + "/tests/io/python.safetensors"), std::string("\x02\0\0\0\0\0\0\0{}", 10),
          std::string("\x52\0\0\0\0\0\0\0", 8) +
              R"({"a":{"dtype":"U8","shape":[2,1],"data_offsets":[0,2]},"__metadata__":{"k":"v"}}  ab)"};
}

void read(std::string_view input) {
  const InputFile on_disk(input);
  const SafetensorsFile file(on_disk.path());
  unsigned sum = 0;  // every byte that the file claims is there
  for (const TensorEntry& tensor : file.tensors()) {
    require(file.find(tensor.name) != nullptr, "a tensor is found by its name");
    for (const std::byte byte : tensor.bytes) sum += unsigned(byte);
  }
  require(file.find(std::to_string(sum)) == nullptr || !file.tensors().empty(), "no tensors, none found");
}

}  // namespace dragoman
