// What Clang's -fsanitize=fuzzer calls: see README.md.

#include "base/error.h"
#include "tests/fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    dragoman::read({reinterpret_cast<const char*>(data), size});
  } catch (const dragoman::Error&) {
    // what a reader is to do with a hostile file
  }
  return 0;
}
