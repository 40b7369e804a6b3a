// What Clang's -fsanitize=fuzzer calls: see README.md.

#include <algorithm>

#include "base/error.h"
#include "tests/fuzz/structure.h"
#include "tests/fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    dragoman::read({reinterpret_cast<const char*>(data), size});
  } catch (const dragoman::Error&) {
    // what a reader is to do with a hostile file
  }
  return 0;
}

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

// Half of the changes keep the structure of the format.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  static const dragoman::Structure structure(dragoman::seeds());
  dragoman::Random random(seed);
  std::string bytes(reinterpret_cast<const char*>(data), size);
  if (random() % 2 == 0 || !structure.change(bytes, random) || bytes.size() > max_size)
    return LLVMFuzzerMutate(data, size, max_size);
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(data));
  return bytes.size();
}
