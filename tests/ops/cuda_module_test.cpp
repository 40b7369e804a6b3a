#include "backend/cuda_module.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "tensor/arena.h"
#include "tests/op_check/gpu.h"
#include "tests/temporary_folder.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;

TEST(CudaModule, FindsTheLibraryOfProductsInThePackagesOfEachPython) {
  TemporaryFolder folder;
  for (const char* name : {"venv/bin", "usr/bin", "none/bin", "usr/lib/python3/dist-packages",
                           "venv/lib/python3.12/site-packages/nvidia/cu13/lib", "venv/lib/other"})
    fs::create_directories(folder / name);
  for (const char* python : {"venv/bin/python3", "usr/bin/python3"}) folder.make(python, "");
  const std::string library = folder.make("venv/lib/python3.12/site-packages/nvidia/cu13/lib/libcublasLt.so.13", "");
  const std::string others = (folder / "none/bin") + ":" + (folder / "usr/bin");
  EXPECT_THAT(cublas_lt_files(others + ":" + (folder / "venv/bin")), testing::ElementsAre(library));
  EXPECT_THAT(cublas_lt_files(others + "::bin:"), testing::IsEmpty());
  EXPECT_THAT(cublas_lt_files(""), testing::IsEmpty());
}

// What the other tests of kernels rely on: there the host cannot read memory by mistake that a GPU would not let it
// read.
TEST(KernelsOnTheHost, HaveMemoryThatTheHostCannotTouch) {
  const DeviceMemory& memory = *gpu_on_host().memory;
  Arena arena(memory);
  const Tensor x = arena.allocate({1}, DType::f32);
  const float two = 2;
  memory.upload(x.data(), &two, sizeof two);
  float copy = 0;
  memory.download(&copy, x.data(), sizeof copy);
  EXPECT_EQ(copy, 2);
  EXPECT_DEATH({ *static_cast<volatile float*>(x.data()) = 3; }, "");
}

}  // namespace
}  // namespace dragoman
