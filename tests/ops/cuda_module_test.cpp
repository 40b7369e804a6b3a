#include "backend/cuda_module.h"

#include <gmock/gmock.h>

#include <filesystem>

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

}  // namespace
}  // namespace dragoman
